// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/detect/head_index.hpp"

#include "services/functions/ids/detect/rule_routes.hpp"
#include "shared/base/ip_protocol.hpp"

namespace millrace {

HeadIndex::HeadIndex(std::span<const Signature> signatures) {
  for (std::uint32_t number = 0; number < signatures.size(); ++number) {
    const RuleRoutes routes = routes_of(signatures[number]);
    if (routes.transactions || routes.has_payload) continue;
    if (routes.takes(PayloadOf::kDatagram) || routes.takes(PayloadOf::kTcpPacket)) {
      add(signatures[number], number);
    }
  }
}

void HeadIndex::add(const Signature& signature, std::uint32_t number) {
  if (asks_app(signature.protocol)) {
    for (std::size_t app = 0; app < kAppProtocols; ++app) {
      if (is_app(signature.protocol, static_cast<AppProtocol>(app))) by_app_[app].push_back(number);
    }
    return;
  }
  const auto put = [&](Kind kind) { by_kind_[static_cast<std::size_t>(kind)].push_back(number); };
  switch (signature.protocol) {
    case RuleProtocol::kIp:
      for (Candidates& rules : by_kind_) rules.push_back(number);
      return;
    case RuleProtocol::kUdp:
      return put(Kind::kUdp);
    case RuleProtocol::kIcmp:
      return put(Kind::kIcmp);
    case RuleProtocol::kSctp:
      return put(Kind::kSctp);
    default:
      return put(Kind::kTcp);
  }
}

HeadIndex::Kind HeadIndex::kind_of(std::uint8_t protocol) noexcept {
  if (protocol == ip_protocol::kTcp) return Kind::kTcp;
  if (protocol == ip_protocol::kUdp) return Kind::kUdp;
  if (ip_protocol::is_icmp(protocol)) return Kind::kIcmp;
  return protocol == ip_protocol::kSctp ? Kind::kSctp : Kind::kOther;
}

std::span<const std::uint32_t> HeadIndex::of_protocol(const PacketView& packet) const noexcept {
  return by_kind_[static_cast<std::size_t>(kind_of(packet.headers.protocol))];
}

std::span<const std::uint32_t> HeadIndex::of_app(const PacketView& packet) const noexcept {
  return by_app_[static_cast<std::size_t>(packet.app)];
}

void HeadIndex::find(const PacketView& packet, Candidates& found) const noexcept {
  for (const std::span<const std::uint32_t> rules : {of_protocol(packet), of_app(packet)}) {
    found.insert(found.end(), rules.begin(), rules.end());
  }
}

}  // namespace millrace
