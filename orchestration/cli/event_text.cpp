// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/event_text.hpp"

#include <initializer_list>

namespace millrace {
namespace {

using Json = nlohmann::ordered_json;

std::string field_of(const Json& json, const char* key) {
  const auto at = json.find(key);
  if (at == json.end()) return "";
  return at->is_string() ? at->get<std::string>() : at->dump();
}

std::string end_point_of(const Json& json, const char* address, const char* port) {
  std::string text = field_of(json, address);
  if (json.contains(port)) {
    if (text.find(':') != std::string::npos) text = "[" + text + "]";
    text += ":" + field_of(json, port);
  }
  return text;
}

std::string ends_of(const Json& json) {
  std::string source = end_point_of(json, "src_ip", "src_port");
  if (json.contains("last_port")) {
    return end_point_of(json, "src_ip", "first_port") + "-" + field_of(json, "last_port");
  }
  if (!json.contains("dest_ip")) return source;
  return source + " > " + end_point_of(json, "dest_ip", "dest_port");
}

std::string flow_of(const Json& flow) {
  return field_of(flow, "state") + " (" + field_of(flow, "reason") + ") after " +
         field_of(flow, "age") + " s, packets " + field_of(flow, "pkts_toserver") + "/" +
         field_of(flow, "pkts_toclient") + ", bytes " + field_of(flow, "bytes_toserver") + "/" +
         field_of(flow, "bytes_toclient");
}

std::string anomaly_of(const Json& anomaly) {
  std::string text = " " + field_of(anomaly, "event");
  if (anomaly.contains("app_proto")) text += " " + field_of(anomaly, "app_proto");
  if (anomaly.contains("mac")) text += " by " + field_of(anomaly, "mac");
  return text;
}

/// What there is of these keys, in their order.
std::string fields_of(const Json& json, std::initializer_list<const char*> keys) {
  std::string text;
  for (const char* const key : keys) {
    if (json.contains(key)) text += " " + field_of(json, key);
  }
  return text;
}

/// Of the line's own object: of a transaction, or a drop.
std::string own_of(const Json& json, const std::string& type) {
  const auto at = json.find(type);
  if (at == json.end() || !at->is_object()) return "";
  if (type == "http") return fields_of(*at, {"http_method", "hostname", "url", "status"});
  if (type == "dns") return fields_of(*at, {"type", "rrtype", "rrname", "rcode"});
  if (type == "tls") return fields_of(*at, {"version", "sni"});
  if (type == "smtp") return fields_of(*at, {"helo", "mail_from"});
  if (type == "drop") return fields_of(*at, {"reason"});
  std::string text;
  for (const char* const side : {"client", "server"}) {
    if (type == "ssh" && at->contains(side)) text += fields_of((*at)[side], {"software_version"});
  }
  return text;
}

}  // namespace

std::string ends_of_event(const Json& event) {
  return (event.contains("proto") ? field_of(event, "proto") + " " : "") + ends_of(event);
}

std::string text_of_event(const std::string& line) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains("millrace")) return line;
  std::string text = field_of(json, "timestamp") + " " + field_of(json, "event_type") + " " +
                     field_of(json["millrace"], "function") + ":";
  if (json.contains("alert")) {
    text +=
        " \"" + field_of(json["alert"], "signature") + "\" " + field_of(json["alert"], "action");
  }
  if (json.contains("anomaly")) text += anomaly_of(json["anomaly"]);
  text += own_of(json, field_of(json, "event_type"));
  if (json.contains("nat")) text += " " + field_of(json["nat"], "action");
  if (json.contains("src_ip")) {
    text += "  " + ends_of_event(json);
  }
  if (json.contains("nat")) text += "  as " + ends_of(json["nat"]);
  if (json.contains("flow")) text += "  " + flow_of(json["flow"]);
  if (json.contains("in_iface")) text += "  from " + field_of(json, "in_iface");
  return text;
}

}  // namespace millrace
