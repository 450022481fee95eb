// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "orchestration/planner/keys.hpp"
#include "orchestration/planner/sections.hpp"
#include "shared/base/limits.hpp"
#include "shared/base/nearest.hpp"

namespace millrace {
namespace {

Fallback read_fallback(const YamlMap& map, std::string_view key) {
  constexpr std::string_view kChoices[] = {"drop", "pass", "wait"};
  const YamlValue* value = map.find(key);
  return value == nullptr ? Fallback::kWait
                          : static_cast<Fallback>(value->choice(kChoices).value_or(2));
}

/// "class suspicious", or a list of such.
void read_when(const YamlValue& value, TopologyFunction& function) {
  constexpr std::string_view kAllowed = "'class NAME' or a list of such";
  constexpr std::string_view kPrefix = "class ";
  for (const YamlValue& element : value.elements()) {
    const std::optional<std::string> text = element.text(kAllowed);
    if (!text) continue;
    const std::string name = text->starts_with(kPrefix) ? text->substr(kPrefix.size()) : "";
    if (is_name(name)) {
      function.when.push_back({name, element.mark()});
    } else {
      element.refuse(kAllowed);
    }
  }
}

void read_on(const YamlValue& value, TopologyFunction& function) {
  constexpr std::string_view kAllowed = "a group, [GPU GROUP, CLASSIFIER GROUP], or auto";
  std::vector<Marked<std::string>> groups = read_names(value, kAllowed);
  if (groups.empty()) return;
  if (groups.size() > 2) {
    value.problems().add(groups[2].mark, std::to_string(groups.size()) + " groups",
                         std::string(kAllowed));
  }
  function.on = std::move(groups[0]);
  if (groups.size() > 1) function.beside = std::move(groups[1]);
}

const KnownFunction* read_type(const YamlMap& map, std::span<const KnownFunction> known,
                               TopologyFunction& function) {
  std::vector<std::string_view> types;
  for (const KnownFunction& k : known) types.push_back(k.type);
  std::sort(types.begin(), types.end());
  const YamlValue* value = map.need("type", comma_list(types));
  const auto chosen = value == nullptr ? std::nullopt : value->choice(types);
  if (!chosen) return nullptr;
  function.type = {std::string(types[*chosen]), value->mark()};
  return &*std::find_if(known.begin(), known.end(),
                        [&](const KnownFunction& k) { return k.type == function.type.value; });
}

void read_function(const YamlEntry& entry, const LoadContext& context, Topology& topology) {
  TopologyFunction& function = topology.functions.emplace_back();
  function.name = entry.key;
  const YamlMap map(entry.value, "a map with 'type'");
  if (const YamlValue* on = map.find("on")) read_on(*on, function);
  if (const YamlValue* when = map.find("when")) read_when(*when, function);
  if (const YamlValue* classes = map.find("classes")) {
    function.classes = read_names(*classes, "a class or a list of them");
  }
  function.unavailable = read_fallback(map, "unavailable");
  function.overload = read_fallback(map, "overload");
  if (const auto share = read_count(map, "share", 2, kSlotCountMax)) {
    function.share = *share;
    if (function.overload == Fallback::kWait) {
      map.need("overload", "'overload: pass' or 'overload: drop' beside 'share'");
    }
  }
  const KnownFunction* known = read_type(map, context.functions, function);
  if (known == nullptr) return;
  map.allow_only(all_keys(kFunctionKeys, known->settings));
  function.settings = read_settings(map, known->settings, context);
}

}  // namespace

void read_functions(const YamlValue& value, const LoadContext& context, Topology& topology) {
  for (const YamlEntry& entry : read_items(value, "function", kFunctionCountMax)) {
    read_function(entry, context, topology);
  }
}

}  // namespace millrace
