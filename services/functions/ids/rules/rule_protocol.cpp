// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <variant>

#include "services/functions/ids/protocols/app_events.hpp"
#include "services/functions/ids/rules/rule_keyword.hpp"
#include "services/functions/ids/rules/rule_values.hpp"

/// What buffers say of the protocol and the direction of a rule.

namespace millrace {
namespace {

std::optional<RuleProtocol> protocol_of(BufferOwner owner) noexcept {
  switch (owner) {
    case BufferOwner::kHttp:
      return RuleProtocol::kHttp;
    case BufferOwner::kTls:
      return RuleProtocol::kTls;
    case BufferOwner::kDns:
      return RuleProtocol::kDns;
    case BufferOwner::kSsh:
      return RuleProtocol::kSsh;
    case BufferOwner::kHttp2:
      return RuleProtocol::kHttp2;
    case BufferOwner::kPayload:
      break;
  }
  return std::nullopt;
}

/// An event is its protocol's.
std::optional<RuleProtocol> owner_of(const BufferTests& tests) {
  if (tests.buffer != RuleBuffer::kAppEvent) return protocol_of(traits_of(tests.buffer).owner);
  const auto* const content = std::get_if<ContentMatch>(&tests.tests.front());
  if (content == nullptr) return std::nullopt;
  const auto app = app_events::owner_of(content->bytes);
  if (app == AppProtocol::kHttp2) return RuleProtocol::kHttp2;
  return app == AppProtocol::kDns ? RuleProtocol::kDns : RuleProtocol::kHttp;
}

[[noreturn]] void refuse_buffer(RuleBuffer buffer, std::string reason) {
  throw RuleRefused{std::string(traits_of(buffer).name), std::move(reason)};
}

bool is_http(RuleProtocol protocol) noexcept {
  return protocol == RuleProtocol::kHttp || protocol == RuleProtocol::kHttp1 ||
         protocol == RuleProtocol::kHttp2;
}

/// A rule over TCP with a buffer of HTTP is one of HTTP. DNS has both transports: what the head
/// says of them stays.
void take_owner(RuleBuffer buffer, RuleProtocol owner, RuleProtocol& protocol) {
  if (protocol == owner || (owner == RuleProtocol::kHttp && is_http(protocol))) return;
  const bool is_version = protocol == RuleProtocol::kHttp && is_http(owner);
  if (protocol == RuleProtocol::kIp || is_version) {
    protocol = owner;
    return;
  }
  if (owner == RuleProtocol::kDns &&
      (protocol == RuleProtocol::kTcp || protocol == RuleProtocol::kUdp)) {
    return;
  }
  if (protocol != RuleProtocol::kTcp) refuse_buffer(buffer, "the rule's protocol does not have it");
  protocol = owner;
}

/// Snort's `service` says whose buffers are meant.
bool is_of_services(const RuleDraft& draft) {
  constexpr std::string_view kHttpNames[] = {"http", "http2", "http3"};
  return draft.services.empty() || std::ranges::any_of(draft.services, [&](const auto& service) {
           return std::ranges::find(kHttpNames, service) != std::end(kHttpNames);
         });
}

/// Files of mails: where the rule is of SMTP, or of services with SMTP and without HTTP.
bool is_of_mail(const RuleDraft& draft, RuleBuffer buffer) {
  if (buffer != RuleBuffer::kFileData && buffer != RuleBuffer::kFileName) return false;
  if (draft.signature.protocol == RuleProtocol::kSmtp) return true;
  return !is_of_services(draft) && std::ranges::count(draft.services, "smtp") != 0;
}

/// A client sends mails.
void settle_mail(RuleBuffer buffer, Signature& signature) {
  take_owner(buffer, RuleProtocol::kSmtp, signature.protocol);
  if (signature.flow.to_client) refuse_buffer(buffer, "the rule's direction does not have it");
  signature.flow.to_server = true;
}

void settle_direction(RuleBuffer buffer, FlowTest& flow) {
  const RuleBufferTraits& traits = traits_of(buffer);
  if (traits.of_request == traits.of_response) return;
  if (traits.of_request ? flow.to_client : flow.to_server) {
    refuse_buffer(buffer, "the rule's direction does not have it");
  }
  (traits.of_request ? flow.to_server : flow.to_client) = true;
}

bool has_packet_tests(const Signature& signature) noexcept {
  const PacketTests& packet = signature.packet;
  return !packet.headers.empty() || packet.tcp_flags || packet.fragment_bits ||
         packet.same_address || signature.flow.no_stream || signature.flow.only_fragments;
}

}  // namespace

void settle_protocol(RuleDraft& draft) {
  Signature& signature = draft.signature;
  for (const BufferTests& tests : signature.buffers) {
    const auto owner = owner_of(tests);
    if (!owner) continue;
    if (is_of_mail(draft, tests.buffer)) {
      settle_mail(tests.buffer, signature);
    } else {
      if (is_http(*owner) && !is_of_services(draft)) {
        refuse_buffer(tests.buffer, "of the rule's services, none is read");
      }
      take_owner(tests.buffer, *owner, signature.protocol);
      settle_direction(tests.buffer, signature.flow);
    }
    if (has_packet_tests(signature)) {
      refuse_buffer(tests.buffer, "it does not go with tests of a packet's headers");
    }
  }
}

}  // namespace millrace
