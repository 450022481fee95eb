// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/nat/port_blocks.hpp"

#include <algorithm>
#include <bit>

#include "shared/base/check.hpp"
#include "shared/base/ip_protocol.hpp"
#include "shared/base/limits.hpp"

namespace millrace {
namespace {

using ip_protocol::kIcmp, ip_protocol::kTcp, ip_protocol::kUdp, ip_protocol::kUdpLite;
constexpr std::size_t kSpaces = 4;  ///< of ports: TCP, UDP, ICMP, all others

std::size_t space_of(std::uint8_t protocol) noexcept {
  return protocol == kTcp ? 0 : protocol == kUdp ? 1 : protocol == kIcmp ? 2 : 3;
}
bool keeps_parity(std::uint8_t protocol) noexcept {
  return protocol == kUdp || protocol == kUdpLite;
}

constexpr std::size_t whole_lines(std::size_t bytes) noexcept {
  return (bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
}
constexpr std::uint32_t words_for(std::uint32_t bits) noexcept { return (bits + 63) / 64; }
std::uint32_t blocks_for(const PortRange& range) noexcept {
  return (range.last / range.block - range.first / range.block) / range.lanes + 1;
}

std::size_t taken_bytes(const PortRange& range) noexcept {
  return whole_lines(range.addresses * sizeof(std::uint32_t));
}
std::size_t bits_bytes(const PortRange& range) noexcept {
  return whole_lines(std::size_t{range.addresses} * words_for(blocks_for(range)) *
                     sizeof(std::uint64_t));
}

}  // namespace

/// Bits of ports in use follow: 64 a word, words by space.
struct PortBlocks::Block {
  std::uint32_t owner;         ///< + 1; 0: it has none
  std::uint32_t next, before;  ///< of the owner's: numbers + 1; 0: none
  std::uint32_t used;          ///< ports, of all spaces

  static std::size_t bytes(std::uint32_t ports) noexcept {
    return whole_lines(sizeof(Block) + kSpaces * words_for(ports) * sizeof(std::uint64_t));
  }
};

std::uint64_t PortBlocks::bytes_for(const PortRange& range) noexcept {
  return taken_bytes(range) + bits_bytes(range) +
         std::uint64_t{range.addresses} * blocks_for(range) * Block::bytes(range.block);
}

PortBlocks::PortBlocks(const LaneState& state, std::size_t at, const PortRange& range,
                       std::uint32_t lane) noexcept
    : state_(state),
      range_(range),
      lane_(lane),
      blocks_(blocks_for(range)),
      first_block_(range.first / range.block),
      taken_at_(at),
      bits_at_(taken_at_ + taken_bytes(range)),
      blocks_at_(bits_at_ + bits_bytes(range)) {
  static_assert(sizeof(Block) == 16);
  MILLRACE_CHECK(lane < range.lanes && range.addresses >= 1 &&
                 range.addresses <= kPoolAddressesMax);
  MILLRACE_CHECK(range.block >= 2 && range.block <= kPortBlockMax && range.block % 2 == 0);
  MILLRACE_CHECK(range.first <= range.last && state.bytes.size() >= at + bytes_for(range));
  while (first_block_ % range.lanes != lane) ++first_block_;
  const std::uint32_t last = range.last / range.block;
  count_ = first_block_ > last ? 0 : (last - first_block_) / range.lanes + 1;
}

PortBlocks::Block& PortBlocks::block(std::uint32_t number) const noexcept {
  MILLRACE_CHECK(number < blocks_ * range_.addresses);
  return *reinterpret_cast<Block*>(state_.bytes.data() + blocks_at_ +
                                   std::size_t{number} * Block::bytes(range_.block));
}

std::uint64_t* PortBlocks::bits_of(std::uint32_t number, std::uint8_t protocol) const noexcept {
  return reinterpret_cast<std::uint64_t*>(&block(number) + 1) +
         space_of(protocol) * words_for(range_.block);
}

std::uint32_t& PortBlocks::taken_of(std::uint32_t address) const noexcept {
  return reinterpret_cast<std::uint32_t*>(state_.bytes.data() + taken_at_)[address];
}

std::uint64_t& PortBlocks::word_of(std::uint32_t address, std::uint32_t word) const noexcept {
  auto* const words = reinterpret_cast<std::uint64_t*>(state_.bytes.data() + bits_at_);
  return words[std::size_t{address} * words_for(blocks_) + word];
}

std::uint32_t PortBlocks::taken() const noexcept {
  std::uint32_t sum = 0;
  for (std::uint32_t address = 0; address < range_.addresses; ++address) sum += taken_of(address);
  return sum;
}

bool PortBlocks::is_used(Port port, std::uint8_t protocol) const noexcept {
  const std::uint32_t bit = port.port % range_.block;
  return (bits_of(port.block, protocol)[bit / 64] >> bit % 64 & 1) != 0;
}

bool PortBlocks::is_free(Port port, std::uint8_t protocol) const noexcept {
  if (is_used(port, protocol)) return false;
  if (range_.reserved.empty()) return true;
  const ReservedPort one{address_of(port.block), port.port, protocol};
  return std::ranges::find(range_.reserved, one) == range_.reserved.end();
}

/// That of its blocks; of an owner without any the first with a free one.
std::optional<std::uint32_t> PortBlocks::address_for(const PortWish& wish,
                                                     const PortOwner& owner) const noexcept {
  if (owner.first_block != 0) return address_of(owner.first_block - 1);
  for (std::uint32_t step = 0; step < range_.addresses; ++step) {
    const auto address = static_cast<std::uint32_t>((wish.hash_of_owner + step) % range_.addresses);
    if (taken_of(address) < count_) return address;
  }
  return std::nullopt;
}

std::optional<PortBlocks::Port> PortBlocks::kept(const PortWish& wish,
                                                 std::uint32_t address) const noexcept {
  const std::uint32_t of_ports = wish.port / range_.block;
  if (wish.port < range_.first || wish.port > range_.last) return std::nullopt;
  if (of_ports % range_.lanes != lane_) return std::nullopt;
  const Port port{address * blocks_ + (of_ports - first_block_) / range_.lanes, wish.port};
  const std::uint32_t owner = block(port.block).owner;
  const bool may_take = owner == 0 && taken_of(address) * 2 < count_;
  if (!may_take && owner != wish.owner + 1) return std::nullopt;
  return is_free(port, wish.protocol) ? std::optional(port) : std::nullopt;
}

/// The first from a place on that the hash says.
std::optional<std::uint32_t> PortBlocks::free_block(std::uint32_t address,
                                                    std::uint64_t hash) const noexcept {
  if (taken_of(address) >= count_) return std::nullopt;
  const auto start = static_cast<std::uint32_t>(hash % count_);
  const std::uint32_t words = words_for(blocks_);
  for (std::uint32_t step = 0; step <= words; ++step) {
    const std::uint32_t word = (start / 64 + step) % words;
    std::uint64_t free = ~word_of(address, word);
    if (word == count_ / 64) free &= (std::uint64_t{1} << count_ % 64) - 1;
    if (word > count_ / 64) free = 0;
    if (step == 0) free &= ~std::uint64_t{0} << start % 64;
    if (free == 0) continue;
    return address * blocks_ + word * 64 + static_cast<std::uint32_t>(std::countr_zero(free));
  }
  return std::nullopt;
}

std::uint32_t PortBlocks::start_of(std::uint32_t block) const noexcept {
  return (first_block_ + block % blocks_ * range_.lanes) * range_.block;
}

PortBlocks::Ports PortBlocks::ports_of(std::uint32_t block) const noexcept {
  const std::uint32_t first = start_of(block), last = first + range_.block - 1;
  return {static_cast<std::uint16_t>(std::max<std::uint32_t>(first, range_.first)),
          static_cast<std::uint16_t>(std::min<std::uint32_t>(last, range_.last))};
}

/// The first from a place on that the hash says (RFC 6056 3.3).
std::optional<PortBlocks::Port> PortBlocks::free_port(std::uint32_t number, const PortWish& wish,
                                                      Parity parity) const noexcept {
  const Ports ports = ports_of(number);
  const std::uint32_t first = start_of(number);
  const bool same = parity == Parity::kSame && keeps_parity(wish.protocol);
  const auto start = static_cast<std::uint32_t>(wish.hash_of_port % range_.block);
  for (std::uint32_t step = 0; step < range_.block; ++step) {
    const std::uint32_t port = first + (start + step) % range_.block;
    if (port < ports.first || port > ports.last) continue;
    if (same && port % 2 != wish.port % 2u) continue;
    const Port one{number, static_cast<std::uint16_t>(port)};
    if (is_free(one, wish.protocol)) return one;
  }
  return std::nullopt;
}

std::optional<PortBlocks::Port> PortBlocks::of_own(const PortWish& wish, const PortOwner& owner,
                                                   Parity parity) const noexcept {
  if (owner.last_used != 0) {
    if (const auto port = free_port(owner.last_used - 1, wish, parity)) return port;
  }
  for (std::uint32_t at = owner.first_block; at != 0; at = block(at - 1).next) {
    if (const auto port = free_port(at - 1, wish, parity)) return port;
  }
  return std::nullopt;
}

std::optional<PortBlocks::Port> PortBlocks::find(const PortWish& wish,
                                                 const PortOwner& owner) const noexcept {
  const auto address = address_for(wish, owner);
  if (!address) return std::nullopt;
  if (const auto port = kept(wish, *address)) return port;
  if (const auto port = of_own(wish, owner, Parity::kSame)) return port;
  if (const auto fresh = free_block(*address, wish.hash_of_owner >> 16)) {
    for (const Parity parity : {Parity::kSame, Parity::kAny}) {
      if (const auto port = free_port(*fresh, wish, parity)) return port;
    }
  }
  return of_own(wish, owner, Parity::kAny);
}

void PortBlocks::own(std::uint32_t number, std::uint32_t owner_number, PortOwner& owner) noexcept {
  const std::uint32_t address = address_of(number), bit = number % blocks_;
  state_.change(word_of(address, bit / 64)) |= std::uint64_t{1} << bit % 64;
  ++state_.change(taken_of(address));
  Block& mine = state_.change(block(number));
  mine.owner = owner_number + 1;
  mine.next = owner.first_block;
  mine.before = 0;
  if (mine.next != 0) state_.change(block(mine.next - 1)).before = number + 1;
  state_.change(owner).first_block = number + 1;
}

void PortBlocks::disown(std::uint32_t number, PortOwner& owner) noexcept {
  const std::uint32_t address = address_of(number), bit = number % blocks_;
  state_.change(word_of(address, bit / 64)) &= ~(std::uint64_t{1} << bit % 64);
  --state_.change(taken_of(address));
  Block& mine = state_.change(block(number));
  if (mine.next != 0) state_.change(block(mine.next - 1)).before = mine.before;
  if (mine.before != 0) state_.change(block(mine.before - 1)).next = mine.next;
  state_.change(owner);
  if (mine.before == 0) owner.first_block = mine.next;
  if (owner.last_used == number + 1) owner.last_used = 0;
  mine.owner = mine.next = mine.before = 0;
}

bool PortBlocks::take(Port port, const PortWish& wish, PortOwner& owner) noexcept {
  const bool fresh = block(port.block).owner == 0;
  if (fresh) own(port.block, wish.owner, owner);
  MILLRACE_CHECK(block(port.block).owner == wish.owner + 1 && !is_used(port, wish.protocol));
  const std::uint32_t bit = port.port % range_.block;
  state_.change(bits_of(port.block, wish.protocol)[bit / 64]) |= std::uint64_t{1} << bit % 64;
  ++state_.change(block(port.block)).used;
  state_.change(owner).last_used = port.block + 1;
  return fresh;
}

bool PortBlocks::give_back(Port port, std::uint8_t protocol, PortOwner& owner) noexcept {
  MILLRACE_CHECK(is_used(port, protocol));
  const std::uint32_t bit = port.port % range_.block;
  state_.change(bits_of(port.block, protocol)[bit / 64]) &= ~(std::uint64_t{1} << bit % 64);
  const bool last = --state_.change(block(port.block)).used == 0;
  if (last) disown(port.block, owner);
  return last;
}

}  // namespace millrace
