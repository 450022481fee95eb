// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "orchestration/cli/try_settings.hpp"

#include <algorithm>
#include <sstream>

#include "services/functions/table.hpp"
#include "shared/base/error.hpp"
#include "shared/base/limits.hpp"

namespace millrace {
namespace {

constexpr std::string_view kClasses = "classes";

struct Assignment {
  std::string type;  ///< empty: for every function that has the key
  std::string key;
  std::string value;
};

Assignment parse(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw Error("--set " + text + ": expected key=value or function.key=value");
  }
  Assignment found{.type = {}, .key = text.substr(0, equals), .value = text.substr(equals + 1)};
  const std::size_t dot = found.key.find('.');
  if (dot != std::string::npos) {
    found.type = found.key.substr(0, dot);
    found.key = found.key.substr(dot + 1);
  }
  return found;
}

bool is_for(const Assignment& assignment, const FunctionTraits& traits) {
  if (!assignment.type.empty()) return assignment.type == traits.type;
  return assignment.key == kClasses ||
         std::ranges::find(traits.settings, assignment.key, &KnownSetting::name) !=
             traits.settings.end();
}

std::string keys_of(const std::vector<std::string>& types) {
  std::string keys;
  for (const std::string& type : types) {
    for (const KnownSetting& setting : function_type(type).traits.settings) {
      keys += (keys.empty() ? "" : ", ") + type + "." + std::string(setting.name);
    }
  }
  return keys.empty() ? "none" : keys;
}

}  // namespace

PlanPort parse_try_port(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw Error("--port " + text + ": expected name=mac or name=mac,address/length");
  }
  PlanPort port{.name = text.substr(0, equals), .device = "null"};
  std::istringstream parts(text.substr(equals + 1));
  std::getline(parts, port.mac, ',');
  for (std::string address; std::getline(parts, address, ',');) {
    port.addresses.push_back(address);
  }
  return port;
}

void check_try_settings(const std::vector<std::string>& texts,
                        const std::vector<std::string>& types) {
  for (const std::string& text : texts) {
    const Assignment assignment = parse(text);
    const bool wanted = std::ranges::any_of(types, [&](const std::string& type) {
      return is_for(assignment, function_type(type).traits);
    });
    if (!wanted) {
      throw Error("--set " + text +
                  ": no function here has such a setting; there are: " + keys_of(types));
    }
  }
}

Settings try_settings(const std::vector<std::string>& texts, const FunctionTraits& traits) {
  Settings settings;
  for (const std::string& text : texts) {
    const Assignment assignment = parse(text);
    if (!is_for(assignment, traits)) continue;
    if (assignment.key != kClasses) {
      settings.emplace_back(assignment.key, assignment.value);
      continue;
    }
    std::istringstream names(assignment.value);
    for (std::string name; std::getline(names, name, ',');) {
      settings.emplace_back(kClasses, name);
    }
  }
  return settings;
}

std::uint32_t number_classes(const Settings& settings, std::vector<std::string>& all) {
  std::uint32_t mask = 0;
  for (const auto& [key, name] : settings) {
    if (key != kClasses) continue;
    const auto at = static_cast<std::size_t>(std::ranges::find(all, name) - all.begin());
    if (at == kClassCountMax) {
      throw Error("class '" + name + "' is number " + std::to_string(at + 1) + "; at most " +
                  std::to_string(kClassCountMax) + " classes");
    }
    if (at == all.size()) all.push_back(name);
    mask |= 1u << at;
  }
  return mask;
}

}  // namespace millrace
