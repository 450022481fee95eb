// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "services/functions/ids/rules/rule_keyword.hpp"
#include "services/functions/ids/rules/rule_values.hpp"
#include "shared/base/ascii.hpp"
#include "shared/base/quoted.hpp"

/// Keywords about the flow of a packet.

namespace millrace {
namespace {

struct FlowWord {
  std::string_view word;
  bool FlowTest::*asks;
  bool FlowTest::*excludes;
};
constexpr FlowWord kFlowWords[] = {
    {"to_server", &FlowTest::to_server, &FlowTest::to_client},
    {"from_client", &FlowTest::to_server, &FlowTest::to_client},
    {"to_client", &FlowTest::to_client, &FlowTest::to_server},
    {"from_server", &FlowTest::to_client, &FlowTest::to_server},
    {"established", &FlowTest::established, &FlowTest::not_established},
    {"not_established", &FlowTest::not_established, &FlowTest::established},
    {"only_stream", &FlowTest::only_stream, &FlowTest::no_stream},
    {"no_stream", &FlowTest::no_stream, &FlowTest::only_stream},
    {"only_frag", &FlowTest::only_fragments, &FlowTest::no_fragments},
    {"no_frag", &FlowTest::no_fragments, &FlowTest::only_fragments},
};

void set_flow(const RuleOption& option, RuleDraft& draft) {
  if (draft.has_flow) refuse_rule("it stands twice");
  draft.has_flow = true;
  FlowTest& flow = draft.signature.flow;
  bool stateless = false;
  for (const std::string_view part : split_list(unquoted(option.value), ',')) {
    const std::string word = in_lower_case(part);
    if (word == "stateless") {
      stateless = true;
      continue;
    }
    const auto* const found = std::ranges::find(kFlowWords, word, &FlowWord::word);
    if (found == std::end(kFlowWords)) refuse_rule(quoted_word(part) + " is not known");
    if (flow.*(found->asks)) refuse_rule(quoted_word(part) + " stands twice");
    if (flow.*(found->excludes)) refuse_rule(quoted_word(part) + " contradicts a word before it");
    flow.*(found->asks) = true;
  }
  if (stateless && (flow.established || flow.not_established)) {
    refuse_rule("stateless contradicts a word beside it");
  }
}

/// "a|b": of what is asked for, any of them; of what is done, Suricata knows one only, Snort all
/// of them.
void add_any_of(FlowbitTest::What what, std::string_view names, RuleDraft& draft) {
  const auto parts = split_list(names, '|');
  if (parts.size() > 1 && what != FlowbitTest::What::kIsSet) {
    refuse_rule("'|' goes with isset only");
  }
  FlowbitTest test{.what = what, .bits = {}, .host = {}};
  for (const std::string_view name : parts) test.bits.push_back(flowbit_number(name, "", draft));
  draft.signature.flowbits.push_back(std::move(test));
}

void add_flowbits(const RuleOption& option, RuleDraft& draft) {
  const std::string_view value = unquoted(option.value);
  const auto parts = split_list(value, ',');
  if (parts[0] == "noalert" && parts.size() == 1) {
    draft.signature.no_alert = true;
    return;
  }
  const FlowbitTest::What what = bit_command(parts[0]);
  constexpr std::size_t kParts = 2;
  if (parts.size() != kParts) refuse_rule("it has a command and names");
  // Snort: "a&b" is each of them.
  const auto all = split_list(parts[1], '&');
  if (all.size() > 1 && parts[1].find('|') != std::string_view::npos) {
    refuse_rule("'|' does not go with '&'");
  }
  for (const std::string_view names : all) add_any_of(what, names, draft);
}

struct ProtocolWord {
  std::string_view word;
  RuleProtocol protocol;
};
constexpr ProtocolWord kProtocolWords[] = {
    {"http", RuleProtocol::kHttp}, {"http1", RuleProtocol::kHttp1}, {"http2", RuleProtocol::kHttp2},
    {"tls", RuleProtocol::kTls},   {"ssl", RuleProtocol::kTls},     {"dns", RuleProtocol::kDns},
    {"ssh", RuleProtocol::kSsh},   {"smtp", RuleProtocol::kSmtp},   {"ftp", RuleProtocol::kFtp},
    {"smb", RuleProtocol::kSmb},
};

bool is_of_tcp(RuleProtocol protocol) noexcept {
  return protocol == RuleProtocol::kTcp || protocol == RuleProtocol::kTcpPacket ||
         protocol == RuleProtocol::kTcpStream;
}

void set_protocol(const RuleOption& option, RuleDraft& draft) {
  std::string_view word = unquoted(option.value);
  const bool is_negated = word.starts_with('!');
  if (is_negated) word.remove_prefix(1);
  const auto* const found = std::ranges::find(kProtocolWords, word, &ProtocolWord::word);
  if (found == std::end(kProtocolWords)) {
    refuse_rule("the protocol " + quoted_word(word) + " is not recognised");
  }
  RuleProtocol& protocol = draft.signature.protocol;
  draft.has_app_protocol = true;
  if (is_negated) {
    if (!is_of_tcp(protocol)) refuse_rule("a negated protocol goes with rules over tcp only");
    draft.signature.not_protocols.push_back(found->protocol);
    return;
  }
  if (protocol == found->protocol) return;
  const bool is_over_tcp = protocol == RuleProtocol::kTcp && found->protocol != RuleProtocol::kDns;
  if (protocol != RuleProtocol::kIp && !is_over_tcp) {
    refuse_rule("the protocol in the rule's head does not go with it");
  }
  protocol = found->protocol;
}

constexpr std::array kKeywords = {
    RuleKeyword{"flow", KeywordValue::kNeeded, set_flow},
    RuleKeyword{"flowbits", KeywordValue::kNeeded, add_flowbits},
    RuleKeyword{"app-layer-protocol", KeywordValue::kNeeded, set_protocol},
};

}  // namespace

FlowbitTest::What bit_command(std::string_view name) {
  static constexpr std::pair<std::string_view, FlowbitTest::What> kCommands[] = {
      {"set", FlowbitTest::What::kSet},           {"unset", FlowbitTest::What::kUnset},
      {"toggle", FlowbitTest::What::kToggle},     {"isset", FlowbitTest::What::kIsSet},
      {"isnotset", FlowbitTest::What::kIsNotSet},
  };
  for (const auto& [command, what] : kCommands) {
    if (command == name) return what;
  }
  refuse_rule(quoted_word(name) + " is not known");
}

std::uint16_t flowbit_number(std::string_view name, std::string_view prefix, RuleDraft& draft) {
  if (name.empty() || name.find_first_of(" \t\"") != std::string_view::npos) {
    refuse_rule(quoted_word(name) + " is no name of a bit");
  }
  std::string full(prefix);
  full.append(name);
  const auto found = std::ranges::find(draft.flowbits, full);
  const auto number = static_cast<std::uint16_t>(found - draft.flowbits.begin());
  if (found != draft.flowbits.end()) return number;
  if (draft.flowbits.size() >= kFlowbitsMax) {
    refuse_rule("rules have at most " + std::to_string(kFlowbitsMax) + " names of bits");
  }
  draft.flowbits.push_back(std::move(full));
  return number;
}

RuleKeywords flow_keywords() noexcept { return kKeywords; }

}  // namespace millrace
