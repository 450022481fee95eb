// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/events/alert_json.hpp"

#include <cstring>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "services/events/json_line.hpp"

namespace millrace {
namespace {

using json_line::put_key;
using json_line::put_text;
using json_line::put_value;

constexpr std::uint64_t kOfRules = 1, kSeverityOfRules = 3;  ///< what rules without a sid have
constexpr std::size_t kMetadataBytesMax = 4096;              ///< longer: the line goes without it

std::string_view text_of(std::span<const char> text) {
  return {text.data(), ::strnlen(text.data(), text.size())};
}

const char* text_of(EventAction action) {
  return action == EventAction::kBlocked ? "blocked" : "allowed";
}

/// Each key once, with all of its values: EVE has arrays.
void put_metadata(const SignatureName& name, std::string& out) {
  std::map<std::string_view, std::vector<std::string_view>> values;
  std::size_t bytes = 0;
  for (const auto& [key, value] : name.metadata) {
    values[key].push_back(value);
    bytes += key.size() + value.size();
  }
  if (values.empty() || bytes > kMetadataBytesMax) return;
  put_key("metadata", out);
  char before = '{';
  for (const auto& [key, list] : values) {
    out += before;
    put_json_text(key, out);
    before = ':';
    char between = '[';
    out += before;
    for (const std::string_view value : list) {
      out += between;
      put_json_text(value, out);
      between = ',';
    }
    out += ']';
    before = ',';
  }
  out += '}';
}

}  // namespace

void put_alert(const AlertEvent& alert, std::string& out) {
  put_key("alert", out);
  out += '{';
  put_text("action", text_of(alert.action), out);
  put_value("gid", kOfRules, out);
  put_value("signature_id", alert.rule, out);
  put_value("rev", 0, out);
  put_text("signature", text_of(alert.name), out);
  put_text("category", "", out);
  put_value("severity", kSeverityOfRules, out);
  out += '}';
}

void put_signature(const SignatureEvent& event, const SignatureName* name, std::string& out) {
  if (event.app[0] != 0) put_text("app_proto", text_of(event.app), out);
  if (event.direction == FlowDirection::kToServer) put_text("direction", "to_server", out);
  if (event.direction == FlowDirection::kToClient) put_text("direction", "to_client", out);
  if (event.scope == SignatureScope::kTransaction) {
    put_value("tx_id", event.transaction.number(), out);
  }
  put_key("alert", out);
  out += '{';
  put_text("action", text_of(event.action), out);
  put_value("gid", event.gid, out);
  put_value("signature_id", event.sid, out);
  put_value("rev", event.revision, out);
  put_text("signature", name == nullptr ? std::string_view() : name->message, out);
  put_text("category", name == nullptr ? std::string_view() : name->classification, out);
  put_value("severity", event.priority, out);
  if (name != nullptr) put_metadata(*name, out);
  out += '}';
}

}  // namespace millrace
