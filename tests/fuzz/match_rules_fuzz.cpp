// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Any text as a rule file: each line is a rule, a refusal or nothing; what was accepted keeps the
// limits, and written out again in hex it is read as the same rule.

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "services/functions/match/rules.hpp"
#include "shared/base/check.hpp"

namespace {

using millrace::MatchAction;
using millrace::MatchRule;

const std::vector<millrace::MatchClass> kClasses = {{"a", 1}, {"suspicious", 64}};

std::string hex(const std::string& bytes) {
  std::string text = "\"|";
  for (const char byte : bytes) {
    char digits[4];
    std::snprintf(digits, sizeof digits, "%02x ", static_cast<unsigned char>(byte));
    text += digits;
  }
  return text + "|\"";
}

std::string written(const MatchRule& rule) {
  std::string line = "alert ";
  if (rule.action == MatchAction::kDrop) line = "drop ";
  if (rule.action == MatchAction::kClass) {
    line = rule.class_mask == 1 ? "class a " : "class suspicious ";
  }
  line += hex(rule.literal);
  if (rule.nocase) line += " nocase";
  if (rule.protocol != 0) line += rule.protocol == 6 ? " proto tcp" : " proto udp";
  if (rule.port != 0) line += " port " + std::to_string(rule.port);
  return line + " name " + hex(rule.name);
}

void check_rule(const MatchRule& rule) {
  MILLRACE_CHECK(!rule.literal.empty() && rule.literal.size() <= millrace::kMatchLiteralBytesMax);
  MILLRACE_CHECK(!rule.name.empty() && rule.name.size() <= millrace::kMatchNameBytesMax);
  MILLRACE_CHECK((rule.action == MatchAction::kClass) == (rule.class_mask != 0));
  const auto again = millrace::parse_match_rules(written(rule), "f", kClasses);
  MILLRACE_CHECK(again.refusals.empty() && again.rules.size() == 1);
  const MatchRule& read = again.rules[0];
  MILLRACE_CHECK(read.literal == rule.literal && read.name == rule.name);
  MILLRACE_CHECK(read.action == rule.action && read.class_mask == rule.class_mask);
  MILLRACE_CHECK(read.nocase == rule.nocase && read.port == rule.port);
  MILLRACE_CHECK(read.protocol == rule.protocol);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto file = millrace::parse_match_rules(text, "fuzz.rules", kClasses);
  std::size_t lines = 1;
  for (const char byte : text) lines += byte == '\n' ? 1 : 0;
  MILLRACE_CHECK(file.rules.size() + file.refusals.size() <= lines);
  for (const MatchRule& rule : file.rules) check_rule(rule);
  return 0;
}
