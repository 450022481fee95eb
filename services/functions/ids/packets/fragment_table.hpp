// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "services/functions/function.hpp"
#include "services/functions/ids/packets/aged_table.hpp"
#include "services/functions/ids/packets/ip_fragment.hpp"

namespace millrace {

/// Datagrams of which fragments have passed, in a lane's state: copies of these fragments. The
/// fragment that makes a datagram whole carries the verdict: without it the receiver can build
/// nothing. What passes of a datagram are fragments that do not overlap, but for bytes that are
/// there already and the same: so all receivers build the same (RFC 5722; RFC 791 leaves to them
/// what they take). Fragments that are refused refuse their datagram: no other one of it passes.
///
/// A datagram is forgotten kTimeoutS after a fragment of it has passed. Receivers have forgotten it
/// by then (RFC 1122 3.3.2, RFC 8200 4.5). Until then nothing makes room: a full table refuses.
/// All datagrams of one source have a quarter of the room.
///
/// Receivers may forget earlier: after 15 or 30 seconds (RFC 791 3.2, Linux), when 64 fragments of
/// the source lie between two of a datagram (Linux), or with options that they refuse. Then some
/// fragments of a datagram that was whole here wait there for others of the same identification. So
/// a datagram must be whole within kWholeS. Where its fragments lie far apart, or have options, it
/// is not forgotten when it has passed: until kTimeoutS no further fragment of it passes.
///
/// A cheap view; one thread. Memory, zero at the start: an AgedTable, whose entries are
/// datagrams; a head of one line; counts of sources; blocks with bytes.
class FragmentTable {
 public:
  static constexpr std::uint32_t kTimeoutS = 120, kWholeS = 10;
  /// Fragments of one source that may lie between two of a datagram.
  static constexpr std::uint32_t kFarApart = 32;
  /// Of one datagram: 64 KiB, and some pieces that are shorter than a block.
  static constexpr std::uint32_t kBlocksMax = 128;
  /// Lines of the state that settle() of a datagram changes at most; and add().
  static constexpr std::uint32_t kLinesOfSettle = AgedTable::kLinesOfEnd + 8;
  static constexpr std::uint32_t kBlocksOfFragment = 68, kLinesOfBlock = 5;
  static constexpr std::uint32_t kLinesOfAdd = AgedTable::kLinesOfBegin + AgedTable::kLinesOfSee +
                                               2 * kLinesOfSettle + 4 +
                                               kBlocksOfFragment * kLinesOfBlock;

  struct Shape {
    std::uint32_t datagrams = 0, blocks = 0;  ///< 1 or more
  };
  static std::uint64_t bytes_for(const Shape& shape) noexcept;
  /// `at`: where it begins in the state, on a cache line. `secret`: as AgedTable's.
  FragmentTable(const LaneState& state, std::uint64_t at, const Shape& shape,
                const std::array<std::uint64_t, 2>& secret) noexcept;

  enum class Outcome : std::uint8_t {
    kWaits,    ///< it passes, and does not make its datagram whole
    kWhole,    ///< it does: write_whole() has the datagram; then settle()
    kRefused,  ///< it contradicts what has passed, or its datagram has been refused
    kFull,     ///< there is no room for it
  };
  struct Options {
    std::uint32_t now_s = 0;
    /// What may leave a receiver with other fragments than have passed refuses: other TTLs, as some
    /// would reach it and some not, and those that come late.
    bool is_strict = true;
    /// Hash of the flow and direction that the fragment is said to be of, 0: of none. The first
    /// fragment says which one its datagram is of; others of other flows refuse it.
    std::uint32_t flow = 0;
  };
  Outcome add(const IpFragment& fragment, const Options& options) noexcept;
  /// The datagram that `fragment`, for which add() has just said kWhole, makes whole, from its IP
  /// header on. False: it would be too long. `whole`: has the capacity for the longest.
  bool write_whole(const IpFragment& fragment, std::vector<std::byte>& whole) const noexcept;
  /// Of a datagram that was whole: it has passed, and is forgotten where its receiver has it; or
  /// not, and no fragment of it passes from now on.
  void settle(const FlowTuple& key, bool passes) noexcept;

  /// Of Options::flow.
  std::uint64_t hash(const FlowTuple& tuple) const noexcept {
    return table_.hash(std::as_bytes(std::span(&tuple, 1)));
  }
  std::uint32_t datagrams() const noexcept { return table_.count(); }  ///< that there are
  std::uint32_t blocks() const noexcept;                               ///< in use

 private:
  struct Head;
  struct Block;
  struct Datagram;
  struct Place;

  static Datagram& datagram_of(AgedEntry& entry) noexcept;
  Head& head() const noexcept;
  Block& block(std::uint32_t reference) const noexcept;
  Block& change_block(std::uint32_t reference) noexcept;
  std::uint32_t& seen_of(const Datagram& datagram) const noexcept;
  void note(AgedEntry& entry, const IpFragment& fragment, const Options& options) noexcept;
  std::uint32_t& units_of(const Datagram& datagram) const noexcept;
  void count_units(const Datagram& datagram, std::int64_t more) noexcept;
  std::uint32_t units_max() const noexcept;
  AgedEntry* begin(const IpFragment& fragment, std::uint32_t now_s) noexcept;
  void end(AgedEntry& entry) noexcept;
  void refuse(AgedEntry& entry) noexcept;
  void release(Datagram& datagram) noexcept;
  void expire(std::uint32_t now_s) noexcept;
  bool contradicts(const Datagram& datagram, const IpFragment& fragment,
                   const Options& options) const noexcept;
  Place place_of(const Datagram& datagram, const IpFragment& fragment) const noexcept;
  bool has_same_front(const Datagram& datagram, const IpFragment& fragment) const noexcept;
  bool has_room(const Datagram& datagram, const IpFragment& fragment,
                std::uint32_t before) const noexcept;
  void store(Datagram& datagram, const IpFragment& fragment, std::uint32_t before) noexcept;
  std::uint32_t take_block(Datagram& datagram) noexcept;
  static bool is_whole(const Datagram& datagram, const IpFragment& fragment) noexcept;

  LaneState state_;
  std::uint64_t at_;  ///< of the head
  Shape shape_;
  AgedTable table_;
};

}  // namespace millrace
