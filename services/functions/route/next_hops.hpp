// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "services/functions/function.hpp"
#include "services/functions/route/router_ports.hpp"
#include "shared/base/limits.hpp"
#include "shared/layout/side_list.hpp"
#include "shared/packet/arp.hpp"
#include "shared/packet/neighbour_discovery.hpp"

namespace millrace {

/// A packet that is ready to leave but for its MAC addresses.
struct Departure {
  std::uint16_t packet = 0;
  std::uint8_t port = 0;
  NeighbourKey neighbour;         ///< its MAC address is where the packet goes
  std::uint32_t fragment_to = 0;  ///< it leaves in fragments of so many bytes; 0: whole
};

/// What leaves by `back` when the neighbour does not answer: all in front of the quote, which is
/// the packet's; or the quote too, with `quoted` 0, where the packet is not what it quotes.
struct HeldReport {
  std::span<const std::byte> front;  ///< empty: nothing
  std::uint8_t back = 0;
  std::uint16_t quoted = 0;

  /// Bytes of a front that waits with the question for such a neighbour; it is to fit in front of
  /// the packet.
  static constexpr std::size_t bytes_max(NeighbourFamily family) noexcept {
    const std::size_t asked =
        family == NeighbourFamily::kIpv4 ? kArpFrameBytes : kNeighbourFrameBytes;
    return std::min<std::size_t>(kHoldBytesMax - asked, kBufferHeadroom);
  }
};

/// Gives departing packets the MAC addresses of neighbours: from the table, or by way of the
/// egress, where they wait while the neighbour is asked for (ARP, RFC 826; neighbour solicitation,
/// RFC 4861 7.2.2). One worker's; data thread.
class NextHops {
 public:
  explicit NextHops(const RouterPorts& ports) : ports_(ports) {}

  enum class Found : std::uint8_t {
    kMac,     ///< `mac` is it
    kWaits,   ///< being asked for
    kFailed,  ///< asked for in vain, a moment ago
  };
  /// Looks the neighbour up, and asks for it, once in a while, also when it is known. Without a
  /// table of neighbours (`millrace try`) each has the MAC address 0.
  Found find(const FinishContext& call, const Departure& at, MacAddress& mac) noexcept;
  /// As find(), of a neighbour that nothing waits for: hold() stays with the one before. True:
  /// kMac.
  bool knows(const FinishContext& call, const Departure& at, MacAddress& mac) noexcept;
  /// kMac: the packet leaves, from the port's MAC address to the neighbour's; `given`: that of a
  /// neighbour that need not be found (family kNone). Else nothing has happened to it yet.
  Found depart(const FinishContext& call, const Departure& at, const MacAddress& given) noexcept;
  /// The packet leaves to this MAC address, in fragments if need be.
  void leave(const FinishContext& call, const Departure& at, const MacAddress& mac) const noexcept;
  /// The packet, which has nothing but its MAC addresses to get, waits at the egress.
  void hold(const FinishContext& call, const Departure& at, const HeldReport& report) noexcept;

 private:
  static constexpr std::size_t kQuestionBytesMax = 86;
  using Question = std::array<std::byte, kQuestionBytesMax>;

  std::size_t write_question(const Departure& at, const MacAddress* known,
                             Question& question) const noexcept;
  void set_source(const Batch& batch, const Departure& at) const noexcept;

  const RouterPorts& ports_;
  /// Neighbours that packets went to, by a hash of their keys; a later one takes the place.
  struct Kept {
    NeighbourKey key;
    NeighbourHint hint;
  };
  std::array<Kept, 256> kept_;
  NeighbourHandle last_;  ///< of the one that find() has found to wait
};

/// Keys of the table: the neighbour `address` at `port`; IPv4 in host byte order.
NeighbourKey neighbour_of(std::uint8_t port, std::uint32_t address) noexcept;
NeighbourKey neighbour_of(std::uint8_t port, const Ipv6Bytes& address) noexcept;
/// The address of a key of IPv4.
std::uint32_t ipv4_of(const NeighbourKey& key) noexcept;

}  // namespace millrace
