// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace millrace {

/// At most so many due packets are kept; what is due beyond is offered load that got lost.
inline constexpr std::uint64_t kDueMax = 4096;

/// When a source of numbered packets has its next ones: their rate, their number, which comes next.
/// Packets are due at even distances from the first look; one that is handed out late carries the
/// time at which it was due, so that latency includes its waiting. One thread.
class Schedule {
 public:
  struct Next {
    std::uint64_t ordinal;
    std::uint64_t due_tsc;  ///< 0 without a rate
  };

  /// `rate_mpps`: million packets a second, 0: as fast as they are asked for. `count`: packets of
  /// the whole life of the topology, 0: endless. `tsc_hz` matters with a rate only.
  Schedule(double rate_mpps, std::uint64_t count, std::uint64_t tsc_hz);

  /// Goes on at `ordinal`: those before it were handed out by an earlier life.
  void resume(std::uint64_t ordinal) noexcept { ordinal_ = ordinal; }
  /// Nothing looks for some time, and that is meant: the next look is as the first one, so that
  /// nothing is due of the time between.
  void rest() noexcept { start_tsc_ = position_ = 0; }
  /// How many packets can be handed out at `now_tsc`, at most `wanted`.
  std::uint32_t ready(std::uint64_t now_tsc, std::uint32_t wanted) noexcept;
  /// The next packet, one of those that ready() told.
  Next next() noexcept {
    const std::uint64_t due = has_rate() ? due_tsc(position_) : 0;
    ++position_;
    return {ordinal_++, due};
  }
  std::uint64_t ordinal() const noexcept { return ordinal_; }
  bool exhausted() const noexcept { return count_ != 0 && ordinal_ >= count_; }
  /// Nanoseconds from `now_tsc` until a packet is due; 0: at once, or without a rate.
  std::uint64_t next_ready_ns(std::uint64_t now_tsc) const noexcept;
  /// Packets that were due and not taken, and are lost.
  std::uint64_t missed() const noexcept { return missed_; }
  bool has_rate() const noexcept { return ticks_per_packet_ > 0; }

 private:
  std::uint64_t due_tsc(std::uint64_t position) const noexcept {
    return start_tsc_ +
           static_cast<std::uint64_t>(static_cast<double>(position) * ticks_per_packet_);
  }

  double ticks_per_packet_ = 0;
  double ns_per_tick_ = 0;
  std::uint64_t count_;
  std::uint64_t ordinal_ = 0;
  std::uint64_t start_tsc_ = 0;  ///< of the first look, or of that after a rest; 0: not yet
  std::uint64_t position_ = 0;   ///< packets handed out or missed since then
  std::uint64_t missed_ = 0;
};

}  // namespace millrace
