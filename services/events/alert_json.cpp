// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/events/alert_json.hpp"

#include <array>
#include <cstring>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "services/events/json_line.hpp"

namespace millrace {
namespace {

using json_line::put_array;
using json_line::put_key;
using json_line::put_object;
using json_line::put_text;
using json_line::put_value;

constexpr std::uint32_t kOfRules = 1, kSeverityOfRules = 3;  ///< what rules without a sid have
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
    out += ':';
    put_array(list, out);
    before = ',';
  }
  out += '}';
}

/// The signature of a line: of the rule that it is about.
struct SignatureOfLine {
  std::uint32_t sid, gid, revision;
  std::uint32_t priority;
  EventAction action;
  std::string_view message, category;
};

/// `name`: null where its metadata is not known.
void put_alert_of(const SignatureOfLine& signature, const SignatureName* name, std::string& out) {
  put_object("alert", out, [&] {
    put_text("action", text_of(signature.action), out);
    put_value("gid", signature.gid, out);
    put_value("signature_id", signature.sid, out);
    put_value("rev", signature.revision, out);
    put_text("signature", signature.message, out);
    put_text("category", signature.category, out);
    put_value("severity", signature.priority, out);
    if (name != nullptr) put_metadata(*name, out);
  });
}

/// `Event`: SignatureEvent, DropEvent.
template <typename Event>
void put_signature_of(const Event& event, EventAction action, const SignatureName* name,
                      std::string& out) {
  SignatureOfLine signature{.sid = event.sid,
                            .gid = event.gid,
                            .revision = event.revision,
                            .priority = event.priority,
                            .action = action,
                            .message = {},
                            .category = {}};
  if (name != nullptr) {
    signature.message = name->message;
    signature.category = name->classification;
  }
  put_alert_of(signature, name, out);
}

}  // namespace

void put_alert(const AlertEvent& alert, std::string& out) {
  put_alert_of({.sid = alert.rule,
                .gid = kOfRules,
                .revision = 0,
                .priority = kSeverityOfRules,
                .action = alert.action,
                .message = text_of(alert.name),
                .category = {}},
               nullptr, out);
}

void put_app(std::span<const char> app, FlowDirection direction, std::string& out) {
  if (!app.empty() && app[0] != 0) put_text("app_proto", text_of(app), out);
  if (direction == FlowDirection::kToServer) put_text("direction", "to_server", out);
  if (direction == FlowDirection::kToClient) put_text("direction", "to_client", out);
}

void put_signature(const SignatureEvent& event, const SignatureName* name, std::string& out) {
  put_app(event.app, event.direction, out);
  if (event.scope == SignatureScope::kTransaction) {
    put_value("tx_id", event.transaction.number(), out);
  }
  put_signature_of(event, event.action, name, out);
}

void put_drop(const DropEvent& event, const SignatureName* name, std::string& out) {
  // The words that Suricata writes.
  static constexpr std::array kReasons = {"rules", "flow drop", "stream error", "stream memcap",
                                          "decode error"};
  static_assert(kReasons.size() == static_cast<std::size_t>(EventDropReason::kCount));
  put_app({}, event.direction, out);
  put_object("drop", out, [&] {
    put_value("len", event.bytes, out);
    const auto reason = static_cast<std::size_t>(event.reason);
    put_text("reason", reason < kReasons.size() ? kReasons[reason] : "unknown", out);
  });
  if (event.reason != EventDropReason::kRule || event.gid == 0) return;
  put_signature_of(event, EventAction::kBlocked, name, out);
}

}  // namespace millrace
