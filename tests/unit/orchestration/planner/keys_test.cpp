// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/planner/keys.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "shared/config/known_devices.hpp"
#include "tests/places.hpp"

namespace millrace {
namespace {

using Json = nlohmann::json;
using Keys = std::set<std::string>;

Json schema() {
  std::ifstream in(test::source_folder() / "orchestration/schema/topology.schema.json");
  return Json::parse(in);
}

Keys keys_of(const Json& object) {
  Keys keys;
  for (const auto& [key, value] : object.at("properties").items()) keys.insert(key);
  return keys;
}

Keys both(std::span<const std::string_view> keys, std::span<const KnownSetting> settings) {
  Keys all(keys.begin(), keys.end());
  for (const KnownSetting& setting : settings) all.emplace(setting.name);
  return all;
}

/// The alternative of `list` that has this value for `key`.
const Json& alternative(const Json& list, const char* key, std::string_view value) {
  for (const Json& item : list) {
    const Json& rule = item.at("properties").at(key);
    if (rule.value("const", "") == value) return item;
    if (rule.contains("enum") && rule["enum"][0] == value) return item;
  }
  throw std::runtime_error("the schema has no " + std::string(value));
}

TEST(Schema, HasTheKeysThatTheLoaderTakes) {
  const Json json = schema();
  EXPECT_EQ(keys_of(json), both(kTopologyKeys, {}));
  EXPECT_EQ(keys_of(json["properties"]["batch"]), both(kBatchKeys, {}));
  EXPECT_EQ(keys_of(json["properties"]["control"]), both(kControlKeys, {}));
  EXPECT_EQ(keys_of(json["properties"]["egress"]), both(kEgressKeys, {}));
  EXPECT_EQ(keys_of(json["properties"]["telemetry"]), both(kTelemetryKeys, {}));
  EXPECT_EQ(keys_of(json["$defs"]["path"]), both(kPathKeys, {}));
}

TEST(Schema, HasTheKeysOfEveryDevice) {
  const Json json = schema();
  for (const KnownDevice& device : known_devices()) {
    const Json& port = alternative(json["$defs"]["port"]["oneOf"], "device", device.name);
    EXPECT_EQ(keys_of(port), both(kPortKeys, device.settings)) << device.name;
  }
  EXPECT_EQ(json["$defs"]["port"]["oneOf"].size(), known_devices().size());
}

/// Of a number that may be a list: of one of it.
const Json& one_of(const Json& rule) { return rule.contains("anyOf") ? rule["anyOf"][0] : rule; }

TEST(Schema, SaysTheRangesAndDefaultsOfEveryDevice) {
  const Json ports = schema()["$defs"]["port"]["oneOf"];
  for (const KnownDevice& device : known_devices()) {
    const Json& port = alternative(ports, "device", device.name);
    for (const KnownSetting& setting : device.settings) {
      SCOPED_TRACE(std::string(device.name) + ": " + std::string(setting.name));
      const Json& rule = port["properties"][std::string(setting.name)];
      if (setting.kind == SettingKind::kInteger || setting.kind == SettingKind::kNumber) {
        EXPECT_EQ(one_of(rule).value("minimum", -1.0), setting.low);
        EXPECT_EQ(one_of(rule).value("maximum", -1.0), setting.high);
      }
      const Json& otherwise = rule.contains("default") ? rule["default"] : Json("");
      const std::string found =
          otherwise.is_string() ? otherwise.get<std::string>() : otherwise.dump();
      const bool told = rule.value("description", "").find("default: ") != std::string::npos;
      EXPECT_EQ(told ? setting.otherwise : found, setting.otherwise);
    }
  }
}

using Row = std::vector<std::string>;

/// The first table of settings in a section of the ports' README: by key, default and what is
/// allowed.
std::map<std::string, Row> readme_table(const std::string& device) {
  std::ifstream in(test::source_folder() / "io-worker/ports/README.md");
  std::map<std::string, Row> table;
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("## ")) inside = line == "## `" + device + "`";
    if (inside && !table.empty() && line.empty()) break;
    if (!inside || !line.starts_with("| `")) continue;
    Row cells;
    std::istringstream rest(line.substr(2));
    for (std::string cell; std::getline(rest, cell, '|');) {
      std::erase(cell, '`');
      const std::size_t first = cell.find_first_not_of(' ');
      cells.push_back(first == cell.npos ? "" : cell.substr(first));
    }
    const std::string key = cells[0].substr(0, cells[0].find(' '));
    table[key] = {cells[1], cells[2]};
  }
  return table;
}

TEST(PortsReadme, SaysTheRangesAndDefaultsOfEveryDevice) {
  for (const KnownDevice& device : known_devices()) {
    const auto table = readme_table(std::string(device.name));
    EXPECT_EQ(table.size(), device.settings.size()) << device.name;
    for (const KnownSetting& setting : device.settings) {
      SCOPED_TRACE(std::string(device.name) + ": " + std::string(setting.name));
      const auto row = table.find(std::string(setting.name));
      ASSERT_NE(row, table.end());
      const std::string &otherwise = row->second[0], &allowed = row->second[1];
      EXPECT_EQ(otherwise.starts_with("needed"), setting.required);
      EXPECT_TRUE(otherwise.starts_with(setting.otherwise)) << otherwise;
      const bool elsewhere = allowed.starts_with("as above") || allowed.starts_with("likewise");
      const bool any = setting.kind != SettingKind::kInteger || setting.high == KnownSetting{}.high;
      if (any || elsewhere) continue;
      const std::string end = ".." + std::to_string(static_cast<std::uint64_t>(setting.high));
      EXPECT_THAT(allowed, testing::HasSubstr(end));
    }
  }
}

TEST(Schema, HasTheKeysOfBothKindsOfGroups) {
  const Json groups = schema()["$defs"]["group"]["oneOf"];
  EXPECT_EQ(keys_of(alternative(groups, "kind", "classifier")), both(kGroupKeys, {}));
  Keys gpu = both(kGroupKeys, known_software_device());
  gpu.insert(std::begin(kGpuKeys), std::end(kGpuKeys));
  EXPECT_EQ(keys_of(alternative(groups, "kind", "gpu")), gpu);
}

TEST(Schema, HasTheKeysOfAutoscale) {
  for (const Json& group : schema()["$defs"]["group"]["oneOf"]) {
    EXPECT_EQ(keys_of(group["properties"]["autoscale"]), both(kAutoscaleKeys, {}));
  }
}

TEST(Keys, AreSortedForMessages) {
  EXPECT_TRUE(std::is_sorted(std::begin(kTopologyKeys), std::end(kTopologyKeys)));
  EXPECT_TRUE(std::is_sorted(std::begin(kPathKeys), std::end(kPathKeys)));
  EXPECT_TRUE(std::is_sorted(std::begin(kPortKeys), std::end(kPortKeys)));
  EXPECT_TRUE(std::is_sorted(std::begin(kFunctionKeys), std::end(kFunctionKeys)));
}

}  // namespace
}  // namespace millrace
