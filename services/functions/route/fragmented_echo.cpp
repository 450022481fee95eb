// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/fragmented_echo.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "services/functions/route/route_reason.hpp"
#include "shared/base/packet_walk.hpp"
#include "shared/packet/icmp.hpp"
#include "shared/packet/icmpv6.hpp"
#include "shared/packet/ipv4_fragments.hpp"
#include "shared/packet/ipv4_wire.hpp"
#include "shared/packet/ipv6_fragments.hpp"
#include "shared/packet/ipv6_wire.hpp"
#include "shared/packet/put_headers.hpp"

namespace millrace {
namespace {

using packet_walk::kEthernetBytes;
using packet_walk::kIpv4BytesMin;
using packet_walk::kIpv6Bytes;
namespace wire = ipv4_wire;
constexpr std::size_t kUnitBytes = 8;
using ipv6_wire::kFragmentBytes, ipv6_wire::kIcmpv6;
/// Of an answer: no longer than what is put together, with a fragment header.
constexpr std::size_t kPieceBytesMax =
    Reassembler::kFrontBytesMax + kFragmentBytes + Reassembler::kDataBytesMax;

/// All but the last piece beside the packet, which becomes the last; they leave by `port`.
/// `ethernet`: of all of them.
template <typename Pieces>
void leave(const FinishContext& call, std::uint16_t packet, std::uint8_t port,
           std::span<const std::byte> ethernet, const Pieces& pieces) noexcept {
  const Batch& batch = call.batch;
  std::array<std::byte, kPieceBytesMax> frame;
  std::ranges::copy(ethernet, frame.begin());
  const auto write = [&](std::uint32_t number) {
    return kEthernetBytes + pieces.write(number, std::span(frame).subspan(kEthernetBytes));
  };
  const std::uint32_t last = pieces.count() - 1;
  std::size_t beside = 0;
  for (std::uint32_t number = 0; number < last; ++number) beside += write(number);
  if (last != 0 && !batch.side.has_room(beside)) {
    batch.drop(packet, Reason::kSideFull);
    return;
  }
  for (std::uint32_t number = 0; number < last; ++number) {
    const auto to = batch.side.add({.packet = packet,
                                    .kind = static_cast<std::uint8_t>(SideKind::kSend),
                                    .port = port,
                                    .why = static_cast<std::uint8_t>(Reason::kFragment)},
                                   write(number));
    std::copy_n(frame.begin(), to.size(), to.begin());
  }
  const std::size_t bytes = write(last);
  const auto growth = static_cast<std::int32_t>(bytes) - std::int32_t{batch.length[packet]};
  if (!batch.grow_back(packet, growth)) {
    batch.drop(packet, Reason::kOversize);
    return;
  }
  std::copy_n(frame.begin(), bytes, batch.data(packet));
  batch.finish(packet, port, Reason::kReply);
}

}  // namespace

template <typename Address, typename Cut>
void FragmentedEcho::leave_by_route(const FinishContext& call, std::uint16_t packet,
                                    std::span<std::byte> reply, const Address& to,
                                    Cut cut) noexcept {
  MacAddress station = wire::mac(reply, 0);
  const std::optional<RouteWay> way = answers_.way_to(call, packet, station, to);
  if (!way) {
    call.batch.drop(packet, call.reason(RouteReason::kNoRoute));
    return;
  }
  const RouterPort& out = answers_.port_of(*way);
  const auto pieces = cut(std::uint32_t{out.mtu});
  if (pieces.count() == 0) {
    call.batch.drop(packet, call.reason(RouteReason::kOwnAddress));
  } else if (answers_.knows(call, packet, *way, station)) {
    wire::put_mac(reply, 0, station);
    wire::put_mac(reply, 6, out.mac);
    leave(call, packet, way->port, reply.first(kEthernetBytes), pieces);
  } else {
    call.batch.drop(packet, Reason::kNoNeighbour);
  }
}

bool FragmentedEcho::is_whole(const FinishContext& call, std::uint16_t packet,
                              const Fragment& fragment) noexcept {
  switch (reassembler_.add(fragment, call.facts.now_ns)) {
    case Reassembler::Outcome::kWaits:
      call.batch.consume(packet, Reason::kControl);
      return false;
    case Reassembler::Outcome::kRefused:
      call.batch.drop(packet, call.reason(RouteReason::kBadFragment));
      return false;
    case Reassembler::Outcome::kWhole:
      break;
  }
  return true;
}

void FragmentedEcho::ipv4(const FinishContext& call, std::uint16_t packet) noexcept {
  const std::span<const std::byte> frame = call.batch.bytes(packet);
  const std::span<const std::byte> ip = frame.subspan(kEthernetBytes);
  const std::size_t total = std::min<std::size_t>(ip.size(), wire::u16(ip, wire::kTotalLengthAt));
  const std::uint16_t field = wire::u16(ip, wire::kFragmentAt);
  Fragment fragment{.key = {.identification = wire::u16(ip, wire::kIdentificationAt),
                            .protocol = wire::u8(ip, wire::kProtocolAt)},
                    .at = (field & wire::kFragmentOffset) * kUnitBytes,
                    .more = (field & wire::kMoreFragments) != 0,
                    .data = ip.first(total).subspan(wire::header_bytes(ip)),
                    .front = frame.first(kEthernetBytes + kIpv4BytesMin)};
  std::copy_n(frame.data() + kEthernetBytes + wire::kSourceAt, 4,
              std::as_writable_bytes(std::span(fragment.key.source)).begin());
  std::copy_n(frame.data() + kEthernetBytes + wire::kDestinationAt, 4,
              std::as_writable_bytes(std::span(fragment.key.destination)).begin());
  if (!is_whole(call, packet, fragment)) return;
  const std::span<std::byte> request = reassembler_.whole();
  const std::span<std::byte> header = request.subspan(kEthernetBytes, kIpv4BytesMin);
  wire::put8(header, 0, 0x45);  // options are not answered
  wire::put16(header, wire::kTotalLengthAt,
              static_cast<std::uint16_t>(request.size() - kEthernetBytes));
  wire::put16(header, wire::kFragmentAt, 0);
  put_ipv4_checksum(header);
  if (!echo_reply_in_place(request)) {
    call.batch.drop(packet, call.reason(RouteReason::kOwnAddress));
    return;
  }
  leave_by_route(call, packet, request, wire::u32(header, wire::kDestinationAt),
                 [&](std::uint32_t mtu) noexcept {
                   return Ipv4Fragments(request.subspan(kEthernetBytes), mtu);
                 });
}

/// The answer has the identification of the request: no other answer to that sender has.
void FragmentedEcho::ipv6(const FinishContext& call, std::uint16_t packet,
                          std::size_t fragment_at) noexcept {
  const std::span<const std::byte> frame = call.batch.bytes(packet);
  const std::span<const std::byte> ip = frame.subspan(kEthernetBytes);
  const std::size_t end =
      std::min(ip.size(), kIpv6Bytes + wire::u16(ip, ipv6_wire::kPayloadLengthAt));
  const std::uint16_t field = wire::u16(ip, fragment_at + 2);
  const Fragment fragment{
      .key = {.source = wire::array_at<Ipv6Bytes>(ip, ipv6_wire::kSourceAt),
              .destination = wire::array_at<Ipv6Bytes>(ip, ipv6_wire::kDestinationAt),
              .identification = wire::u32(ip, fragment_at + 4),
              .protocol = kIcmpv6,
              .is_ipv6 = true},
      .at = field & 0xfff8u,
      .more = (field & 1) != 0,
      .data = ip.first(end).subspan(fragment_at + kFragmentBytes),
      .front = frame.first(kEthernetBytes + kIpv6Bytes)};
  if (!is_whole(call, packet, fragment)) return;
  const std::span<std::byte> request = reassembler_.whole();
  const std::span<std::byte> header = request.subspan(kEthernetBytes, kIpv6Bytes);
  wire::put16(header, ipv6_wire::kPayloadLengthAt,
              static_cast<std::uint16_t>(request.size() - kEthernetBytes - kIpv6Bytes));
  wire::put8(header, ipv6_wire::kNextHeaderAt, kIcmpv6);
  if (!echo_reply_in_place_ipv6(request, nullptr)) {
    call.batch.drop(packet, call.reason(RouteReason::kOwnAddress));
    return;
  }
  leave_by_route(call, packet, request, fragment.key.source, [&](std::uint32_t mtu) noexcept {
    return Ipv6Fragments(request.subspan(kEthernetBytes), mtu, fragment.key.identification);
  });
}

}  // namespace millrace
