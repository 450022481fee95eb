// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/config/keys.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <span>

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
