// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>

#include "orchestration/planner/sections.hpp"
#include "shared/base/nearest.hpp"

namespace millrace {
namespace {

std::optional<std::string> read_value(const YamlValue& value, const KnownSetting& known,
                                      const LoadContext& context) {
  switch (known.kind) {
    case SettingKind::kFlag: {
      const std::optional<bool> flag = value.flag();
      if (!flag) return std::nullopt;
      return *flag ? "true" : "false";
    }
    case SettingKind::kInteger: {
      const auto number = value.integer(static_cast<std::uint64_t>(known.low),
                                        static_cast<std::uint64_t>(known.high));
      if (!number) return std::nullopt;
      return std::to_string(*number);
    }
    case SettingKind::kNumber:
      if (!value.number(known.low, known.high)) return std::nullopt;
      return value.text();
    case SettingKind::kInputFile:
    case SettingKind::kOutputFile:
      return value.file_name();
    case SettingKind::kText:
    case SettingKind::kOutputPort:
      break;
  }
  const std::optional<Expansion> text = value.text_or_secret();
  if (!text) return std::nullopt;
  if (text->secret) context.secrets.push_back(text->text);
  return text->text;
}

const char* description(const KnownSetting& known) {
  switch (known.kind) {
    case SettingKind::kText:
      return "text";
    case SettingKind::kOutputPort:
      return "a port";
    case SettingKind::kInputFile:
    case SettingKind::kOutputFile:
      return "a file name";
    case SettingKind::kFlag:
      return "true, false";
    case SettingKind::kInteger:
      return "a whole number";
    case SettingKind::kNumber:
      return "a number";
  }
  return "";
}

}  // namespace

std::optional<Marked<std::uint32_t>> read_count(const YamlMap& map, std::string_view key,
                                                std::uint32_t low, std::uint32_t high) {
  const YamlValue* value = map.find(key);
  const auto number = value == nullptr ? std::nullopt : value->integer(low, high);
  if (!number) return std::nullopt;
  return Marked<std::uint32_t>{static_cast<std::uint32_t>(*number), value->mark()};
}

bool is_name(std::string_view text) {
  const auto fits = [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_'; };
  return !text.empty() && text.size() <= kNameBytesMax &&
         std::isalpha(static_cast<unsigned char>(text[0])) != 0 &&
         std::all_of(text.begin(), text.end(), fits);
}

namespace {}  // namespace

std::optional<Marked<std::string>> read_name(const YamlValue& value, std::string_view allowed) {
  const std::optional<std::string> text = value.text(allowed);
  if (!text) return std::nullopt;
  if (is_name(*text)) return Marked<std::string>{*text, value.mark()};
  value.refuse(kNameRule);
  return std::nullopt;
}

std::vector<Marked<std::string>> read_names(const YamlValue& value, std::string_view allowed) {
  std::vector<Marked<std::string>> names;
  if (value.is_empty()) value.refuse(allowed);
  if (value.is_empty()) return names;
  for (const YamlValue& element : value.elements()) {
    if (auto name = read_name(element, allowed)) names.push_back(std::move(*name));
  }
  return names;
}

std::vector<YamlEntry> read_items(const YamlValue& value, std::string_view item,
                                  std::size_t count_max) {
  const YamlMap map(value, "a map of '" + std::string(item) + ": {...}'");
  std::vector<YamlEntry> items;
  for (const YamlEntry& entry : map.entries()) {
    if (items.size() == count_max) {
      value.problems().add(
          entry.key.mark,
          std::to_string(map.entries().size()) + " entries in '" + value.name() + "'",
          "at most " + std::to_string(count_max));
      break;
    }
    if (!is_name(entry.key.value)) {
      value.problems().add(entry.key.mark,
                           "'" + shown(entry.key.value) + "' as " + std::string(item),
                           std::string(kNameRule));
    }
    items.push_back(entry);
  }
  return items;
}

std::vector<TopologySetting> read_settings(const YamlMap& map, std::span<const KnownSetting> known,
                                           const LoadContext& context) {
  std::vector<TopologySetting> settings;
  for (const YamlEntry& entry : map.entries()) {
    const auto setting = std::find_if(known.begin(), known.end(), [&](const KnownSetting& s) {
      return s.name == entry.key.value;
    });
    if (setting == known.end()) continue;
    if (entry.value.is_list() && !setting->list) {
      entry.value.refuse(description(*setting));
      continue;
    }
    for (const YamlValue& element : entry.value.elements()) {
      if (auto text = read_value(element, *setting, context)) {
        settings.push_back({entry.key.value, {*text, element.mark()}, setting->kind});
      }
    }
  }
  for (const KnownSetting& setting : known) {
    const bool replaced = !setting.unless.empty() && map.find(setting.unless) != nullptr;
    if (setting.required && !replaced) map.need(setting.name, description(setting));
  }
  return settings;
}

std::vector<std::string_view> all_keys(std::span<const std::string_view> keys,
                                       std::span<const KnownSetting> known) {
  std::vector<std::string_view> all(keys.begin(), keys.end());
  for (const KnownSetting& setting : known) all.push_back(setting.name);
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace millrace
