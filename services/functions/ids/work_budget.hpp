// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "shared/base/random_secret.hpp"
#include "shared/packet/ipv6_bytes.hpp"

/// What looking at packets may cost beyond the usual: expressions that need many steps, bodies that
/// inflate to much more than they are. A unit is about 0.1 ms of a core: of an expression by the
/// clock, of a body 64 KiB that are inflated, parsed and searched.

namespace millrace {

/// What one packet may take. One thread.
class WorkShare {
 public:
  static constexpr std::uint32_t kUnitsMax = 96;  ///< of any packet: about 10 ms
  static constexpr std::uint64_t kInflatedBytesOfUnit = 64u << 10, kNsOfUnit = 100'000;
  static constexpr std::uint64_t kFreeNs = 20'000;  ///< pieces of work that take less cost nothing
  /// Of one piece of work, and one for each kReadsOfUnit of it, whatever the clock says: the kernel
  /// may have stopped the worker in it.
  static constexpr std::uint64_t kUnitsOfPiece = 16, kReadsOfUnit = 1u << 16;

  using Clock = std::uint64_t (*)() noexcept;  ///< nanoseconds
  /// Without a clock a piece of work costs what it costs at least.
  explicit WorkShare(Clock clock = nullptr) : clock_(clock) {}

  /// `own`: units of the packet. `common`: those that all packets share; the same unless said.
  /// `is_established`: as of WorkBudget::Packet.
  void begin(std::uint32_t own, std::uint32_t common, bool is_established = true) noexcept {
    is_established_ = is_established;
    own_ = own;
    common_ = common;
    overdraft_ = 0;
    is_own_fault_ = has_lost_body_ = has_lost_parser_ = false;
  }
  void begin(std::uint32_t own) noexcept { begin(own, own); }
  /// False: fewer are left, and none is taken.
  bool take(std::uint32_t units) noexcept {
    if (units > left()) {
      is_own_fault_ |= units > own_;
      return false;
    }
    own_ -= units;
    common_ -= units;
    return true;
  }
  /// False: the packet has none of its own left, so not even a first search is made; nor where all
  /// are used up and it is of no established connection.
  bool may_search() const noexcept { return (is_established_ ? own_ : left()) != 0; }
  std::uint64_t now_ns() const noexcept { return clock_ == nullptr ? 0 : clock_(); }
  /// A search that is done.
  struct Piece {
    std::uint64_t since_ns;   ///< it began
    std::uint32_t least;      ///< units
    std::uint64_t reads = 0;  ///< of bytes, at most: each from each place of a text
  };
  /// Takes its units, `least` or more; of those that are not there the packet's own are owed.
  /// Returns now_ns(), for a piece that follows at once.
  std::uint64_t spend(const Piece& piece) noexcept {
    const std::uint64_t most = kUnitsOfPiece + piece.reads / kReadsOfUnit;
    const std::uint64_t now = now_ns();
    const std::uint64_t ns = std::min(now - piece.since_ns, most * kNsOfUnit);
    if (ns >= kFreeNs) rest_ns_ += ns;
    const std::uint32_t units =
        std::max(piece.least, static_cast<std::uint32_t>(rest_ns_ / kNsOfUnit));
    rest_ns_ %= kNsOfUnit;
    overdraft_ += units - std::min(own_, units);
    own_ -= std::min(own_, units);
    common_ -= std::min(common_, units);
    return now;
  }
  /// A look of a rule that can change a verdict was given up: it takes too many steps, whatever is
  /// left.
  void exceed() noexcept { is_own_fault_ = true; }
  /// A body was given up, as nothing is left for it.
  void lose_body() noexcept { has_lost_body_ = true; }
  /// So was all that follows in the packet's flow: others took the memory of its parser, there was
  /// none for it, or the parser cannot read on.
  void lose_parser() noexcept { has_lost_parser_ = true; }

  std::uint32_t left() const noexcept { return std::min(own_, common_); }
  std::uint32_t own_left() const noexcept { return own_; }
  std::uint32_t overdraft() const noexcept { return overdraft_; }  ///< of its own
  std::uint32_t common_left() const noexcept { return common_; }
  /// There were too few of its own; false where their source may be made up.
  bool is_own_fault() const noexcept { return is_established_ && is_own_fault_; }
  bool has_lost_body() const noexcept { return has_lost_body_; }
  bool has_lost_parser() const noexcept { return has_lost_parser_; }

 private:
  Clock clock_;
  std::uint32_t own_ = kUnitsMax, common_ = kUnitsMax;
  std::uint32_t overdraft_ = 0;
  std::uint64_t rest_ns_ = 0;  ///< of a unit
  bool is_established_ = true;
  bool is_own_fault_ = false;
  bool has_lost_body_ = false, has_lost_parser_ = false;
};

/// Units by time, of a worker and of each source: so the rest of the worker's time is for packets
/// that cost the usual. A packet of an established connection has its source's units for first
/// searches also while the worker's are used up; others have none then: their sources may be made
/// up.
/// Of established connections a source is one for each receiver: so what a server sends to one of
/// its clients takes nothing from what it sends to others. Sources share kSources places by a keyed
/// hash, and one that meets a place finds what is left there. What one search takes beyond what is
/// there its source owes. One a worker, one thread; kept nowhere else: the worker that takes over
/// begins with all of it.
class WorkBudget {
 public:
  struct Bound {
    std::uint32_t units_a_second;
    std::uint32_t units_max;  ///< at once, after a pause
  };
  static constexpr Bound kWorker{512, 1024}, kSource{64, 256};
  static constexpr std::size_t kSources = 4096;  ///< a power of two
  /// Longer than that nothing is owed.
  static constexpr std::uint64_t kDebtNsMax = 60'000'000'000;

  /// `clock`: of share(). `secret`: of the hash. Throws where there is no source of random numbers.
  explicit WorkBudget(WorkShare::Clock clock,
                      const std::array<std::uint64_t, 2>& secret = random_secret());

  struct Packet {
    Ipv6Bytes source;      ///< its address
    Ipv6Bytes peer;        ///< that of its receiver
    bool is_established;   ///< of TCP: such a source is not made up
    std::uint64_t now_ns;  ///< if it goes back by more than what can be owed, that is forgotten
  };
  /// Accounts for what the packet before has taken of share(), and fills that for this one.
  void begin_packet(const Packet& packet) noexcept;

  /// The same object all the time.
  WorkShare& share() noexcept { return share_; }

 private:
  /// Work that was taken, as the time at which it is earned.
  struct Debt {
    std::uint64_t until_ns = 0;
    std::uint64_t owed_ns(std::uint64_t now_ns) const noexcept;
    std::uint32_t left(const Bound& bound, std::uint64_t now_ns) const noexcept;
    void add(std::uint32_t units, const Bound& bound, std::uint64_t now_ns) noexcept;
  };

  Debt& source_of(const Packet& packet) noexcept;

  std::array<std::uint64_t, 2> secret_;
  std::vector<Debt> sources_;
  Debt worker_;
  WorkShare share_;
  std::uint64_t busy_until_ns_ = 0;  ///< no source has taken what it has not earned by then
  // Of the packet in hand.
  Packet packet_{};
  std::uint32_t own_ = WorkShare::kUnitsMax, common_ = WorkShare::kUnitsMax;
};

}  // namespace millrace
