// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "services/functions/function.hpp"

/// The outside ports that one lane may give to inside hosts, in blocks: which host owns a block,
/// and which of its ports are in use. Of each address of the pool the lane has the blocks with
/// number % lanes = lane, number = port / block.
///
/// Memory, zero at the start: a count and a bit a block for each address; then the blocks, each of
/// whole lines.

namespace millrace {

inline constexpr std::size_t kPoolAddressesMax = 4096;
inline constexpr std::uint32_t kPortBlockMax = 1024;

/// A port that is never given.
struct ReservedPort {
  std::uint32_t address = 0;  ///< of the pool: its number
  std::uint16_t port = 0;
  std::uint8_t protocol = 0;
  friend bool operator==(const ReservedPort&, const ReservedPort&) = default;
};

/// Of the pool; alike in all lanes of a path.
struct PortRange {
  std::uint16_t first = 1024, last = 65535;
  std::uint32_t block = 64;                     ///< ports: even, 2..kPortBlockMax
  std::uint32_t lanes = 1;                      ///< of the path
  std::uint32_t addresses = 1;                  ///< 1..kPoolAddressesMax
  std::span<const ReservedPort> reserved = {};  ///< few
};

/// What a host has of blocks; the caller keeps it. Numbers + 1; 0: none.
struct PortOwner {
  std::uint32_t first_block = 0;  ///< the youngest of its blocks
  std::uint32_t last_used = 0;    ///< the block of the port that it was given last
};

/// What a port is wanted for.
struct PortWish {
  std::uint32_t owner = 0;    ///< number of the host
  std::uint16_t port = 0;     ///< inside
  std::uint8_t protocol = 0;  ///< TCP, UDP, ICMP have ports of their own, all others share some
  std::uint64_t hash_of_owner = 0, hash_of_port = 0;  ///< they say where a search begins
};

/// A cheap view. One thread, which changes the lane's state at that moment.
class PortBlocks {
 public:
  /// Lines of the undo log that take() or give_back() takes at most.
  static constexpr std::uint32_t kLinesChangedMax = 12;

  static std::uint64_t bytes_for(const PortRange& range) noexcept;
  /// In bytes_for(range) of `state` from `at`, a multiple of a line, on. `lane`: below range.lanes.
  PortBlocks(const LaneState& state, std::size_t at, const PortRange& range,
             std::uint32_t lane) noexcept;

  struct Port {
    std::uint32_t block = 0;  ///< its number within the lane
    std::uint16_t port = 0;
  };
  /// A free port of a block of the owner, or of one without owner; nothing: there is none. All
  /// ports of an owner are of one address (RFC 4787 REQ-2). Tried in this order:
  /// 1. that of the wish, in the owner's block or, while half of the address's have no owner, in
  ///    one that it would take (REQ-3)
  /// 2. one of its blocks; for UDP of the wish's parity (REQ-4)
  /// 3. another block that it would take
  /// 4. one of its blocks, of the other parity
  std::optional<Port> find(const PortWish& wish, const PortOwner& owner) const noexcept;
  /// A port that find() has given is in use now; its block is the owner's. True: from now on.
  bool take(Port port, const PortWish& wish, PortOwner& owner) noexcept;
  /// A port is free again. True: it was the last one of its block in use, which has no owner now.
  bool give_back(Port port, std::uint8_t protocol, PortOwner& owner) noexcept;

  /// Of the pool: 0..addresses - 1.
  std::uint32_t address_of(std::uint32_t block) const noexcept { return block / blocks_; }
  struct Ports {
    std::uint16_t first = 0, last = 0;
  };
  Ports ports_of(std::uint32_t block) const noexcept;
  /// Blocks that are some host's.
  std::uint32_t taken() const noexcept;

 private:
  struct Block;
  enum class Parity : std::uint8_t { kSame, kAny };

  Block& block(std::uint32_t number) const noexcept;
  std::uint64_t* bits_of(std::uint32_t block, std::uint8_t protocol) const noexcept;
  std::uint32_t& taken_of(std::uint32_t address) const noexcept;
  std::uint64_t& word_of(std::uint32_t address, std::uint32_t word) const noexcept;
  bool is_used(Port port, std::uint8_t protocol) const noexcept;
  bool is_free(Port port, std::uint8_t protocol) const noexcept;
  std::optional<std::uint32_t> address_for(const PortWish& wish,
                                           const PortOwner& owner) const noexcept;
  std::optional<Port> kept(const PortWish& wish, std::uint32_t address) const noexcept;
  std::optional<std::uint32_t> free_block(std::uint32_t address, std::uint64_t hash) const noexcept;
  std::uint32_t start_of(std::uint32_t block) const noexcept;
  std::optional<Port> free_port(std::uint32_t block, const PortWish& wish,
                                Parity parity) const noexcept;
  std::optional<Port> of_own(const PortWish& wish, const PortOwner& owner,
                             Parity parity) const noexcept;
  void own(std::uint32_t block, std::uint32_t owner_number, PortOwner& owner) noexcept;
  void disown(std::uint32_t block, PortOwner& owner) noexcept;

  LaneState state_;
  PortRange range_;
  std::uint32_t lane_;
  std::uint32_t blocks_;       ///< places of an address
  std::uint32_t count_;        ///< of these, blocks that the lane has
  std::uint32_t first_block_;  ///< port / block of the first
  std::size_t taken_at_, bits_at_, blocks_at_;
};

}  // namespace millrace
