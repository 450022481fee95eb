// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/route/announcer.hpp"

#include <algorithm>

#include "services/functions/route/next_hops.hpp"
#include "shared/config/loop.hpp"
#include "shared/packet/arp.hpp"

namespace millrace {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;
/// ANNOUNCE_NUM, ANNOUNCE_INTERVAL (RFC 5227 1.1); RFC 4861 10 allows three, a second apart.
constexpr std::uint64_t kAnnouncements = 2, kApartNs = 2 * kSecondNs;
/// Ports are open by then.
constexpr std::uint64_t kFirstNs = kSecondNs;
/// Addresses that are told of in one second: a batch has room for so many frames, twice.
constexpr std::size_t kAtOnce = 16;
constexpr std::size_t kFrameBytesMin = 60;
constexpr MacAddress kBroadcast = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

/// When address number `address` is told of for the first time.
constexpr std::uint64_t first_ns(std::size_t address) noexcept {
  return kFirstNs + address / kAtOnce * kSecondNs;
}

std::span<std::byte> frame_beside(const FinishContext& call, std::uint16_t packet,
                                  std::uint8_t port, std::size_t bytes) noexcept {
  return call.batch.side.add({.packet = packet,
                              .kind = static_cast<std::uint8_t>(SideKind::kSend),
                              .port = port,
                              .why = static_cast<std::uint8_t>(Reason::kAnnounce)},
                             bytes);
}

}  // namespace

Announcer::Announcer(const RouterPorts& ports, std::span<const PlanPort> plan,
                     RouterAdvertiser& advertiser)
    : ports_(ports), advertiser_(advertiser), groups_(ports) {
  for (std::size_t i = 0; i < plan.size(); ++i) {
    is_loop_.push_back(is_loop(plan[i]));
    const auto number = static_cast<std::uint8_t>(i);
    const RouterPort& port = *ports.at(number);
    for (const OwnAddress& own : port.ipv4) own_.push_back({.port = number, .ipv4 = own.address});
    if (port.ipv6.empty()) continue;
    own_.push_back({.port = number, .is_ipv6 = true, .ipv6 = port.link_local});
    for (const PortIpv6& own : port.ipv6) {
      if (own.address == port.link_local) continue;
      own_.push_back({.port = number, .is_ipv6 = true, .ipv6 = own.address});
    }
  }
}

bool Announcer::tick(const FinishContext& call, std::uint16_t packet) noexcept {
  const std::uint8_t in = call.facts.port_in;
  const std::span<const std::byte> frame = call.batch.bytes(packet);
  if (in >= is_loop_.size() || !is_loop_[in] || !is_tick(frame)) return false;
  const Tick now = read_tick(frame);
  bool all = advertiser_.advertise(call, packet, now);
  all = groups_.tick(call, packet, now) && all;
  for (std::size_t i = 0; i < own_.size() && first_ns(i) <= now.time_ns; ++i) {
    for (std::uint64_t number = 0; number < kAnnouncements; ++number) {
      if (!now.covers(first_ns(i) + number * kApartNs)) continue;
      all = announce(call, packet, own_[i]) && all;
      break;  // once, if a tick speaks for so long
    }
  }
  if (all) {
    call.batch.consume(packet, Reason::kControl);
  } else {
    call.batch.drop(packet, Reason::kSideFull);
  }
  return true;
}

bool Announcer::announce(const FinishContext& call, std::uint16_t packet,
                         const Own& own) const noexcept {
  const RouterPort& port = *ports_.at(own.port);
  if (own.is_ipv6) {
    const auto frame = frame_beside(call, packet, own.port, kNeighbourFrameBytes);
    if (frame.empty()) return false;
    write_advertisement(frame, port.mac, multicast_mac(kIpv6AllNodes), own.ipv6, kIpv6AllNodes,
                        own.ipv6, true, false, true);
    return true;
  }
  const auto frame = frame_beside(call, packet, own.port, kFrameBytesMin);
  if (frame.empty()) return false;
  std::ranges::fill(frame, std::byte{0});
  write_arp(frame, port.mac, kBroadcast,
            {.operation = kArpRequest,
             .sender_mac = port.mac,
             .sender = own.ipv4,
             .target_mac = {},
             .target = own.ipv4});
  return true;
}

}  // namespace millrace
