// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/alert_line.hpp"

#include <algorithm>

#include "orchestration/cli/columns.hpp"
#include "orchestration/cli/event_text.hpp"
#include "shared/base/error.hpp"

namespace millrace {
namespace {

using Json = nlohmann::ordered_json;

std::string text_at(const Json& json, const char* key) {
  const auto at = json.find(key);
  return at != json.end() && at->is_string() ? at->get<std::string>() : std::string();
}

std::uint64_t number_at(const Json& json, const char* key) {
  const auto at = json.find(key);
  return at != json.end() && at->is_number_unsigned() ? at->get<std::uint64_t>() : 0;
}

std::string signature_of(const Json& alert) {
  return std::to_string(number_at(alert, "gid")) + ":" +
         std::to_string(number_at(alert, "signature_id"));
}

const char* title_of(AlertOrder by) {
  if (by == AlertOrder::kSignature) return "signature";
  return by == AlertOrder::kSource ? "source" : "destination";
}

}  // namespace

std::optional<Json> alert_of_line(const std::string& line) {
  // Most lines of a file may be of flows: what they say is not looked at.
  if (line.find("\"alert\"") == std::string::npos) return std::nullopt;
  Json json = Json::parse(line, nullptr, false);
  if (!json.is_object() || text_at(json, "event_type") != "alert") return std::nullopt;
  if (!json.contains("alert") || !json["alert"].is_object()) return std::nullopt;
  return json;
}

std::string alert_text(const Json& json) {
  const Json& alert = json.at("alert");
  std::string text = text_at(json, "timestamp") + " " + text_at(alert, "action") + " [" +
                     signature_of(alert) + ":" + std::to_string(number_at(alert, "rev")) + "] \"" +
                     text_at(alert, "signature") + "\" severity " +
                     std::to_string(number_at(alert, "severity"));
  if (const std::string of = text_at(alert, "category"); !of.empty()) text += " (" + of + ")";
  if (json.contains("src_ip")) text += "  " + ends_of_event(json);
  if (json.contains("app_proto")) text += " " + text_at(json, "app_proto");
  if (const auto own = json.find("millrace"); own != json.end() && own->is_object()) {
    text += "  by " + text_at(*own, "function");
  }
  return text;
}

AlertFilter::AlertFilter(std::vector<std::uint32_t> sids, const std::string& source)
    : sids_(std::move(sids)) {
  if (source.empty()) return;
  source_ = AddressPrefix::parse(source);
  if (!source_) {
    throw Error("--source: found '" + source +
                "'; allowed: " + std::string(AddressPrefix::kAllowed));
  }
}

bool AlertFilter::takes(const Json& json) const {
  const std::uint64_t sid = number_at(json.at("alert"), "signature_id");
  if (!sids_.empty() && std::ranges::count(sids_, sid) == 0) return false;
  return !source_ || source_->contains(text_at(json, "src_ip"));
}

void AlertCount::add(const Json& json) {
  const Json& alert = json.at("alert");
  const bool is_blocked = text_at(alert, "action") == "blocked";
  ++alerts_;
  if (is_blocked) ++blocked_;
  std::string key = signature_of(alert);
  if (by_ == AlertOrder::kSource) key = text_at(json, "src_ip");
  if (by_ == AlertOrder::kDestination) key = text_at(json, "dest_ip");
  AlertGroup& group = groups_[key];
  group.key = key;
  ++group.alerts;
  if (is_blocked) ++group.blocked;
  group.last = text_at(json, "timestamp");
  if (by_ != AlertOrder::kSignature) return;
  group.name = text_at(alert, "signature");
  group.severity = number_at(alert, "severity");
}

std::vector<AlertGroup> AlertCount::top(std::size_t count) const {
  std::vector<AlertGroup> groups;
  for (const auto& [key, group] : groups_) groups.push_back(group);
  std::ranges::stable_sort(groups, std::greater(), &AlertGroup::alerts);
  if (groups.size() > count) groups.resize(count);
  return groups;
}

std::string alert_groups_text(const std::vector<AlertGroup>& groups, AlertOrder by) {
  if (groups.empty()) return "";
  std::vector<std::vector<std::string>> rows = {{"alerts", "blocked", "last", title_of(by)}};
  for (const AlertGroup& group : groups) {
    std::string what = group.key;
    if (by == AlertOrder::kSignature) {
      what += " \"" + group.name + "\" severity " + std::to_string(group.severity);
    }
    rows.push_back({std::to_string(group.alerts), std::to_string(group.blocked), group.last, what});
  }
  return columns_text(rows);
}

Json alert_group_json(const AlertGroup& group, AlertOrder by) {
  Json json = {{title_of(by), group.key}};
  if (by == AlertOrder::kSignature) {
    json["message"] = group.name;
    json["severity"] = group.severity;
  }
  json["alerts"] = group.alerts;
  json["blocked"] = group.blocked;
  json["last"] = group.last;
  return json;
}

}  // namespace millrace
