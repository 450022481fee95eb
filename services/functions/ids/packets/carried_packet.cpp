// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/packets/carried_packet.hpp"

#include <algorithm>

#include "services/functions/ids/packets/ip_fragment.hpp"
#include "shared/base/ip_protocol.hpp"
#include "shared/base/packet_walk.hpp"
#include "shared/packet/wire_bytes.hpp"

namespace millrace {
namespace {

using Bytes = std::span<const std::byte>;
using Carried = std::optional<CarriedPacket>;
using packet_walk::kTypeIpv4, packet_walk::kTypeIpv6;
using wire_bytes::u16, wire_bytes::u32, wire_bytes::u8;

// EtherTypes.
constexpr std::uint16_t kTypeEthernet = 0x6558, kTypePpp = 0x880b, kTypeNsh = 0x894f,
                        kTypePppoe = 0x8864, kTypeMpls = 0x8847, kTypeMplsMulticast = 0x8848,
                        kTypeErspan = 0x88be, kTypeErspan3 = 0x22eb, kTypeOldServiceVlan = 0x9100;
/// Steps inwards that carry no packet of IP, as tags and labels.
constexpr int kStepsMax = 8;

/// What is behind a header, and its EtherType; `type` 0: it is not known.
struct Step {
  std::uint16_t type = 0;
  Bytes bytes{};
};

Bytes behind(Bytes bytes, std::size_t count) noexcept {
  return bytes.subspan(std::min(count, bytes.size()));
}

Step behind_ppp(Bytes ppp) noexcept {
  constexpr std::uint16_t kAddressAndControl = 0xff03, kIpv4 = 0x21, kIpv6 = 0x57, kMpls = 0x281;
  if (ppp.size() >= 2 && u16(ppp, 0) == kAddressAndControl) ppp = ppp.subspan(2);
  if (ppp.size() < 2) return {};
  // The upper byte of a protocol whose lower one is odd may be left out (RFC 1661 6.5).
  const bool is_short = (u8(ppp, 0) & 1) != 0;
  const std::uint16_t protocol = is_short ? u8(ppp, 0) : u16(ppp, 0);
  const Bytes rest = ppp.subspan(is_short ? 1 : 2);
  if (protocol == kIpv4) return {kTypeIpv4, rest};
  if (protocol == kIpv6) return {kTypeIpv6, rest};
  return protocol == kMpls ? Step{kTypeMpls, rest} : Step{};
}

/// By the first half byte: the label stack does not tell (RFC 4928).
Step by_version(Bytes bytes) noexcept {
  if (bytes.empty()) return {};
  const int version = u8(bytes, 0) >> 4;
  if (version == 4) return {kTypeIpv4, bytes};
  if (version == 6) return {kTypeIpv6, bytes};
  return {};
}

Step behind_mpls(Bytes labels) noexcept {
  constexpr std::size_t kLabelBytes = 4, kLabelsMax = 16;
  constexpr std::uint32_t kBottom = 0x100;
  for (std::size_t i = 0; i < kLabelsMax && labels.size() >= kLabelBytes; ++i) {
    const bool is_last = (u32(labels, 0) & kBottom) != 0;
    labels = labels.subspan(kLabelBytes);
    if (!is_last) continue;
    const Step ip = by_version(labels);
    if (ip.type != 0) return ip;
    // A pseudowire, with its control word or without (RFC 4448).
    const bool has_word = !labels.empty() && u8(labels, 0) >> 4 == 0;
    return {kTypeEthernet, behind(labels, has_word ? kLabelBytes : 0)};
  }
  return {};
}

Step behind_nsh(Bytes nsh) noexcept {
  constexpr std::size_t kBaseBytes = 8, kWordBytes = 4;
  if (nsh.size() < kBaseBytes || u8(nsh, 0) >> 6 != 0) return {};
  const std::size_t bytes = (u8(nsh, 1) & 0x3f) * kWordBytes;
  if (bytes < kBaseBytes || bytes > nsh.size()) return {};
  const Bytes rest = nsh.subspan(bytes);
  switch (u8(nsh, 3)) {
    case 1:
      return {kTypeIpv4, rest};
    case 2:
      return {kTypeIpv6, rest};
    case 3:
      return {kTypeEthernet, rest};
    case 4:
      return {kTypeNsh, rest};
    case 5:
      return {kTypeMpls, rest};
    default:
      return {};
  }
}

/// ERSPAN of version 1 or 2 (draft-foschiano-erspan).
Step behind_erspan(Bytes erspan) noexcept {
  constexpr std::size_t kBytes = 8, kBytesOf3 = 12, kSubheaderBytes = 8, kFlagsAt = 11;
  if (erspan.size() < kBytesOf3) return {};
  const int version = u8(erspan, 0) >> 4;
  if (version == 1) return {kTypeEthernet, erspan.subspan(kBytes)};
  const bool has_more = (u8(erspan, kFlagsAt) & 1) != 0;
  if (version == 2) {
    return {kTypeEthernet, behind(erspan, kBytesOf3 + (has_more ? kSubheaderBytes : 0))};
  }
  return {};
}

Step behind_gre(Bytes gre) noexcept {
  constexpr std::uint16_t kChecksum = 0x8000, kRouting = 0x4000, kKey = 0x2000, kSequence = 0x1000,
                          kAcknowledgment = 0x0080, kVersion = 7;
  constexpr std::size_t kBaseBytes = 4;
  if (gre.size() < kBaseBytes) return {};
  const std::uint16_t flags = u16(gre, 0), type = u16(gre, 2);
  const int version = flags & kVersion;
  if (version > 1) return {};
  std::size_t bytes = kBaseBytes;
  if ((flags & (kChecksum | kRouting)) != 0) bytes += kBaseBytes;
  if ((flags & kKey) != 0) bytes += kBaseBytes;
  if ((flags & kSequence) != 0) bytes += kBaseBytes;
  if (version == 1 && (flags & kAcknowledgment) != 0) bytes += kBaseBytes;
  if ((flags & kRouting) != 0) {  // RFC 1701: entries up to one of length 0
    constexpr std::size_t kEntryBytes = 4, kLengthAt = 3;
    for (std::size_t length = 1; length != 0;) {
      if (bytes + kEntryBytes > gre.size()) return {};
      length = u8(gre, bytes + kLengthAt);
      bytes += kEntryBytes + length;
    }
  }
  if (bytes > gre.size()) return {};
  const Bytes rest = gre.subspan(bytes);
  // The first ERSPAN has no header of its own, and no sequence number.
  if (type == kTypeErspan && (flags & kSequence) == 0) return {kTypeEthernet, rest};
  return {type, rest};
}

Step behind_vxlan(Bytes vxlan) noexcept {
  constexpr std::size_t kBytes = 8;
  constexpr int kHasNetwork = 0x08;
  if (vxlan.size() < kBytes || (u8(vxlan, 0) & kHasNetwork) == 0) return {};
  return {kTypeEthernet, vxlan.subspan(kBytes)};
}

Step behind_geneve(Bytes geneve) noexcept {
  constexpr std::size_t kBaseBytes = 8, kWordBytes = 4;
  if (geneve.size() < kBaseBytes || u8(geneve, 0) >> 6 != 0) return {};
  const std::size_t bytes = kBaseBytes + (u8(geneve, 0) & 0x3f) * kWordBytes;
  if (bytes > geneve.size()) return {};
  return {u16(geneve, 2), geneve.subspan(bytes)};
}

/// Behind an authentication and an origin, which it may have (RFC 4380 5.1.1).
Step behind_teredo(Bytes teredo) noexcept {
  constexpr std::size_t kAuthenticationBytes = 13, kOriginBytes = 8;
  if (teredo.size() >= kAuthenticationBytes && u16(teredo, 0) == 1) {
    teredo = behind(teredo, kAuthenticationBytes + u8(teredo, 2) + u8(teredo, 3));
  }
  if (teredo.size() >= kOriginBytes && u16(teredo, 0) == 0) teredo = teredo.subspan(kOriginBytes);
  const Step ip = by_version(teredo);
  return ip.type == kTypeIpv6 ? ip : Step{};
}

Step behind_vlan_tag(Bytes tag) noexcept {
  constexpr std::size_t kBytes = 4;
  if (tag.size() < kBytes) return {};
  return {u16(tag, 2), tag.subspan(kBytes)};
}

/// One that is no header of IP. Of Ethernet: behind both addresses and the EtherType.
Step step_in(const Step& step) noexcept {
  constexpr std::size_t kPppoeBytes = 6;
  switch (step.type) {
    case kTypeEthernet:
      if (step.bytes.size() < packet_walk::kEthernetBytes) return {};
      return {u16(step.bytes, packet_walk::kMacsBytes),
              step.bytes.subspan(packet_walk::kEthernetBytes)};
    case packet_walk::kTypeVlan:
    case packet_walk::kTypeServiceVlan:
    case kTypeOldServiceVlan:
      return behind_vlan_tag(step.bytes);
    case kTypePpp:
      return behind_ppp(step.bytes);
    case kTypePppoe:
      return behind_ppp(behind(step.bytes, kPppoeBytes));
    case kTypeMpls:
    case kTypeMplsMulticast:
      return behind_mpls(step.bytes);
    case kTypeNsh:
      return behind_nsh(step.bytes);
    case kTypeErspan:
    case kTypeErspan3:
      return behind_erspan(step.bytes);
    default:
      return {};
  }
}

Step behind_udp(Bytes udp, std::uint16_t destination_port) noexcept {
  constexpr std::uint16_t kVxlanPort = 4789, kGenevePort = 6081, kTeredoPort = 3544;
  if (destination_port == kVxlanPort) return behind_vxlan(udp);
  if (destination_port == kGenevePort) return behind_geneve(udp);
  return destination_port == kTeredoPort ? behind_teredo(udp) : Step{};
}

/// Of a packet of IP.
Step first_step(Bytes frame, const PacketHeaders& headers) noexcept {
  constexpr std::uint8_t kIpv4 = 4, kIpv6 = 41, kGre = 47, kMplsInIp = 137;
  if (headers.payload_offset == 0 || headers.transport_offset == 0) return {};
  const Bytes payload = frame.subspan(headers.payload_offset);
  switch (headers.protocol) {
    case kIpv4:
      return {kTypeIpv4, payload};
    case kIpv6:
      return {kTypeIpv6, payload};
    case kGre:
      return behind_gre(payload);
    case kMplsInIp:
      return behind_mpls(payload);
    case ip_protocol::kUdp:
      return behind_udp(payload, u16(frame, headers.transport_offset + std::size_t{2}));
    default:
      return {};
  }
}

/// Of a frame without IP: what its EtherType announces.
Step frame_step(Bytes frame, const PacketHeaders& headers) noexcept {
  const std::size_t at =
      packet_walk::kEthernetBytes + headers.vlan_tags * packet_walk::kVlanTagBytes;
  if (headers.ether_type == kTypeIpv4 || headers.ether_type == kTypeIpv6 || at > frame.size()) {
    return {};
  }
  return {headers.ether_type, frame.subspan(at)};
}

}  // namespace

std::optional<CarriedPacket> carried_packet(std::span<const std::byte> frame,
                                            const PacketHeaders& headers) noexcept {
  frame = frame.first(std::min<std::size_t>(frame.size(), headers.payload_end));
  Step step = headers.ip_version == 0 ? frame_step(frame, headers) : first_step(frame, headers);
  for (int steps = 0; steps < kStepsMax && step.type != 0; ++steps) {
    if (step.type == kTypeIpv4 || step.type == kTypeIpv6) {
      const PacketHeaders inner = parse_ip_headers(step.bytes);
      if (inner.ip_version == 0 || inner.ether_type != step.type) return std::nullopt;
      return CarriedPacket{step.bytes, inner};
    }
    step = step_in(step);
  }
  return std::nullopt;
}

}  // namespace millrace
