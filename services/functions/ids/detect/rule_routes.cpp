// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/detect/rule_routes.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "services/functions/ids/rules/regex_literal.hpp"

namespace millrace {
namespace {

RuleGate gate_of_literal(RegexLiteral literal, std::size_t buffer, std::size_t test) {
  const std::size_t more = literal.bytes.size() - std::min(literal.bytes.size(), kGateBytesMax);
  return {.buffer = static_cast<std::uint16_t>(buffer),
          .test = static_cast<std::uint16_t>(test),
          .bytes = literal.bytes.substr(more),
          .nocase = literal.nocase,
          .ends_content = true};
}

/// What can gate a rule, of the content or pcre at a place; nothing when it cannot.
std::optional<RuleGate> gate_at(const Signature& signature, std::size_t buffer, std::size_t test,
                                std::size_t offset, std::size_t length) {
  const BufferTests& tests = signature.buffers[buffer];
  if (!tests.transforms.empty()) return std::nullopt;
  if (const auto* pcre = std::get_if<PcreMatch>(&tests.tests[test])) {
    std::optional<RegexLiteral> literal = required_literal(*pcre);
    if (!literal || literal->bytes.size() < kGateBytesMin) return std::nullopt;
    return gate_of_literal(std::move(*literal), buffer, test);
  }
  const auto* content = std::get_if<ContentMatch>(&tests.tests[test]);
  if (content == nullptr || content->negated) return std::nullopt;
  std::string bytes = gate_bytes(*content, offset, length);
  if (bytes.size() < kGateBytesMin) return std::nullopt;
  return RuleGate{
      .buffer = static_cast<std::uint16_t>(buffer),
      .test = static_cast<std::uint16_t>(test),
      .bytes = std::move(bytes),
      .nocase = content->nocase,
      .ends_content = content->bytes.size() - std::min(offset, content->bytes.size()) <= length};
}

/// Some content has to be at a place from the begin: of the stream, or of a packet.
bool has_place(const Signature& signature) noexcept {
  return std::ranges::any_of(signature.buffers, [](const BufferTests& tests) {
    return std::ranges::any_of(tests.tests, [](const Match& test) {
      const auto* content = std::get_if<ContentMatch>(&test);
      return content != nullptr && (content->offset || content->depth || content->starts_with);
    });
  });
}

std::optional<RuleGate> longest_gate(const Signature& signature, bool transactions) {
  std::optional<RuleGate> longest;
  for (std::size_t buffer = 0; buffer < signature.buffers.size(); ++buffer) {
    const BufferTests& tests = signature.buffers[buffer];
    if (transactions == (tests.buffer == RuleBuffer::kPayload)) continue;
    for (std::size_t test = 0; test < tests.tests.size(); ++test) {
      std::optional<RuleGate> gate = gate_at(signature, buffer, test, 0, SIZE_MAX);
      if (gate && (!longest || gate->bytes.size() > longest->bytes.size())) longest = gate;
    }
  }
  return longest;
}

/// kUnknown: nothing.
AppProtocol app_of(RuleProtocol protocol) noexcept {
  switch (protocol) {
    case RuleProtocol::kHttp:
    case RuleProtocol::kHttp1:
      return AppProtocol::kHttp;
    case RuleProtocol::kHttp2:
      return AppProtocol::kHttp2;
    case RuleProtocol::kTls:
      return AppProtocol::kTls;
    case RuleProtocol::kDns:
      return AppProtocol::kDns;
    case RuleProtocol::kSsh:
      return AppProtocol::kSsh;
    case RuleProtocol::kSmtp:
      return AppProtocol::kSmtp;
    case RuleProtocol::kFtp:
      return AppProtocol::kFtp;
    case RuleProtocol::kSmb:
      return AppProtocol::kSmb;
    default:
      return AppProtocol::kUnknown;
  }
}

}  // namespace

bool asks_app(RuleProtocol protocol) noexcept { return app_of(protocol) != AppProtocol::kUnknown; }

bool is_app(RuleProtocol protocol, AppProtocol app) noexcept {
  if (protocol == RuleProtocol::kHttp && app == AppProtocol::kHttp2) return true;
  return asks_app(protocol) && app_of(protocol) == app;
}

bool can_be_tcp(RuleProtocol protocol) noexcept {
  return protocol != RuleProtocol::kUdp && protocol != RuleProtocol::kIcmp &&
         protocol != RuleProtocol::kSctp;
}

bool can_be_datagram(RuleProtocol protocol) noexcept {
  return protocol == RuleProtocol::kIp || protocol == RuleProtocol::kDns || !can_be_tcp(protocol);
}

RuleRoutes routes_of(const Signature& signature) noexcept {
  RuleRoutes routes;
  for (const BufferTests& tests : signature.buffers) {
    (tests.buffer == RuleBuffer::kPayload ? routes.has_payload : routes.transactions) = true;
  }
  if (routes.transactions) return routes;
  const bool tcp = can_be_tcp(signature.protocol);
  const bool stream = tcp && !signature.flow.no_stream &&
                      (routes.has_payload ? signature.looks_at_streams()
                                          : signature.flow.only_stream ||
                                                signature.protocol == RuleProtocol::kTcpStream);
  const bool packet = tcp && (!stream || (has_place(signature) && !signature.flow.only_stream));
  routes.payload[static_cast<std::size_t>(PayloadOf::kDatagram)] =
      can_be_datagram(signature.protocol);
  routes.payload[static_cast<std::size_t>(PayloadOf::kTcpPacket)] = packet;
  routes.payload[static_cast<std::size_t>(PayloadOf::kStream)] = stream;
  return routes;
}

std::string gate_bytes(const ContentMatch& content, std::size_t offset, std::size_t length) {
  std::string bytes = content.bytes.substr(std::min(offset, content.bytes.size()), length);
  if (bytes.size() > kGateBytesMax) bytes.erase(0, bytes.size() - kGateBytesMax);
  return bytes;
}

std::optional<RuleGate> gate_of(const Signature& signature) {
  const bool transactions = routes_of(signature).transactions;
  if (signature.fast_pattern) {
    const FastPattern& fast = *signature.fast_pattern;
    const bool payload = signature.buffers[fast.buffer].buffer == RuleBuffer::kPayload;
    if (payload != transactions) {
      std::optional<RuleGate> gate =
          gate_at(signature, fast.buffer, fast.test, fast.offset, fast.length);
      if (gate) return gate;
    }
  }
  return longest_gate(signature, transactions);
}

}  // namespace millrace
