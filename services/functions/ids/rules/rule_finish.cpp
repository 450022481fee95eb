// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <variant>

#include "services/functions/ids/rules/rule_keyword.hpp"
#include "services/functions/ids/rules/rule_places.hpp"
#include "services/functions/ids/rules/rule_values.hpp"
#include "shared/base/ascii.hpp"

/// What is seen of a rule when all of its options have been read.

namespace millrace {
namespace {

bool has_upper_case(const std::string& bytes) noexcept {
  return std::ranges::any_of(bytes, [](char byte) { return byte >= 'A' && byte <= 'Z'; });
}

std::string in_upper_case(std::string bytes) {
  for (char& byte : bytes) {
    if (byte >= 'a' && byte <= 'z') byte = static_cast<char>(byte - 'a' + 'A');
  }
  return bytes;
}

/// Buffers of one case: digests take contents of either case, host names are refused in the wrong
/// one, as in Suricata.
void settle_case(const BufferTests& tests, ContentMatch& content) {
  if (!tests.transforms.empty()) return;
  switch (tests.buffer) {
    case RuleBuffer::kJa3Hash:
    case RuleBuffer::kJa3sHash:
    case RuleBuffer::kTlsFingerprint:
      content.bytes = in_lower_case(content.bytes);
      break;
    case RuleBuffer::kTlsSerial:
      if (!content.nocase) content.bytes = in_upper_case(content.bytes);
      break;
    case RuleBuffer::kHttpHost:
      if (has_upper_case(content.bytes)) {
        throw RuleRefused{"content", "http.host is in lower case: it never matches"};
      }
      break;
    default:
      break;
  }
}

void settle_cases(RuleDraft& draft) {
  for (BufferTests& tests : draft.signature.buffers) {
    for (Match& match : tests.tests) {
      if (auto* const content = std::get_if<ContentMatch>(&match)) settle_case(tests, *content);
    }
  }
}

/// Calls `use` with the variables that a test reads, and `set` with that which it writes.
template <typename Use, typename Set>
void visit_variables(const Match& match, Use use, Set set) {
  const auto use_place = [&](const std::optional<RuleNumber>& number) {
    if (number) use(number->variable);
  };
  std::visit(
      [&](const auto& test) {
        if constexpr (requires { test.distance; }) {
          use_place(test.offset), use_place(test.depth);
          use_place(test.distance), use_place(test.within);
        } else if constexpr (requires { test.offset.variable; }) {
          use(test.offset.variable);
        }
        if constexpr (requires { test.value.variable; }) use(test.value.variable);
        if constexpr (requires { test.at.variable; }) use(test.at.variable);
        if constexpr (requires { test.variable; }) set(test.variable);
      },
      match);
}

/// The order in which buffers are looked at is not the rule's: a variable is of one buffer.
void check_variables(const RuleDraft& draft) {
  std::array<std::size_t, RuleNumber::kNoVariable> writer{};
  for (std::size_t at = 0; at < draft.signature.buffers.size(); ++at) {
    for (const Match& match : draft.signature.buffers[at].tests) {
      visit_variables(
          match, [](std::uint8_t) {}, [&](std::uint8_t variable) { writer.at(variable) = at; });
    }
  }
  for (std::size_t at = 0; at < draft.signature.buffers.size(); ++at) {
    for (const Match& match : draft.signature.buffers[at].tests) {
      visit_variables(
          match,
          [&](std::uint8_t variable) {
            if (variable != RuleNumber::kNoVariable && writer.at(variable) != at) {
              throw RuleRefused{"byte_extract", "a variable of one buffer is used in another"};
            }
          },
          [](std::uint8_t) {});
    }
  }
}

/// Suricata: a rule of the recognised protocol alone is looked at when that is recognised. Of
/// DNS, which datagrams have too, each packet counts.
void settle_recognition(RuleDraft& draft) {
  Signature& signature = draft.signature;
  signature.at_recognition = draft.has_app_protocol && signature.protocol != RuleProtocol::kDns &&
                             signature.buffers.empty() && signature.flowbits.empty() &&
                             !signature.looks_at_packet_headers();
}

void check_head(const RuleDraft& draft) {
  const Signature& signature = draft.signature;
  if (signature.sid == 0) throw RuleRefused{"sid", "it is missing"};
  const bool is_app = signature.protocol >= RuleProtocol::kHttp;
  const bool has_tcp_tests = signature.packet.tcp_flags.has_value();
  const bool may_have_tcp = signature.protocol <= RuleProtocol::kTcpStream || is_app;
  if (has_tcp_tests && !may_have_tcp) {
    throw RuleRefused{"flags", "the rule's protocol does not have it"};
  }
  if (signature.flow.only_stream && has_tcp_tests) {
    throw RuleRefused{"flow", "only_stream does not go with tests of a packet's headers"};
  }
}

}  // namespace

void finish_draft(RuleDraft& draft) {
  drop_empty_buffers(draft);
  check_head(draft);
  settle_cases(draft);
  check_variables(draft);
  settle_base64(draft);
  settle_protocol(draft);
  settle_recognition(draft);
  choose_fast_pattern(draft);
}

}  // namespace millrace
