// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "shared/base/limits.hpp"

/// Keeps the lines of a lane's state that a batch changes, as they were before, in the order of the
/// changes. If the worker dies in the batch, recovery writes them back in reverse order, so the
/// lane loses that batch and nothing else. The log lies in the segment behind the state; recovery
/// reads it after the death of its writer, so the order of the program suffices, without a fence.
///
/// | offset | size       | field    | meaning                                                   |
/// |-------:|-----------:|----------|-----------------------------------------------------------|
/// |      0 |          8 | batch    | which one: stream << 48 or sequence; 0: none yet          |
/// |      8 |          4 | count    | lines that are kept                                       |
/// |     12 |          4 | overflow | 1: one more was changed than there is room for            |
/// |     64 |          4 | number   | of each line, in lines from the start of the state        |
/// |     .. |         64 | line     | as it was; these begin on a line                          |

namespace millrace {

class LaneUndoLog {
 public:
  /// Bytes of a log of `lines` lines; 0 lines: there is no log.
  static constexpr std::uint64_t bytes_for(std::uint32_t lines) noexcept {
    return lines == 0 ? 0 : kCacheLine + numbers_bytes(lines) + std::uint64_t{lines} * kCacheLine;
  }

  LaneUndoLog() = default;
  /// `memory`: bytes_for(lines), zeroed at the start, on a cache line; `state`: what it is about,
  /// on a cache line too.
  LaneUndoLog(std::span<std::byte> memory, std::uint32_t lines, std::span<std::byte> state) noexcept
      : memory_(memory.data()), lines_(lines), state_(state) {}
  explicit operator bool() const noexcept { return lines_ != 0; }

  /// Begins a batch. Called by its worker before it changes the state.
  void begin(std::uint16_t stream, std::uint64_t sequence) const noexcept {
    if (lines_ == 0) return;
    store<std::uint32_t>(kCountAt, 0);
    store<std::uint32_t>(kOverflowAt, 0);
    store(kBatchAt, word_of(stream, sequence));
  }
  /// The batch that has begun last: another number than that of any other batch of the lane. 0:
  /// none has, or there is no log.
  std::uint64_t batch() const noexcept { return lines_ == 0 ? 0 : load<std::uint64_t>(kBatchAt); }
  /// Keeps bytes [at, at + bytes) of the state, before they change. A line may be kept more than
  /// once.
  void keep(std::size_t at, std::size_t bytes) const noexcept {
    if (lines_ == 0 || bytes == 0) return;
    const std::size_t last = (at + bytes - 1) / kCacheLine;
    for (std::size_t line = at / kCacheLine; line <= last; ++line) keep_line(line);
  }

  /// The same for what lies in the line of byte `at`.
  void keep_line_of(std::size_t at) const noexcept {
    if (lines_ != 0) keep_line(at / kCacheLine);
  }
  /// The same for two lines, in less time than one after the other.
  void keep_lines_of(std::size_t at, std::size_t other) const noexcept {
    if (lines_ == 0) return;
    const auto count = load<std::uint32_t>(kCountAt);
    if (lines_ - count < 2) [[unlikely]] {
      keep_line(at / kCacheLine);
      keep_line(other / kCacheLine);
      return;
    }
    const std::byte* const from = state_.data();  // ours: stores to bytes may be to anything
    std::uint32_t* const numbers = number(count);
    std::byte* const to = kept(count);
    at = at / kCacheLine, other = other / kCacheLine;
    numbers[0] = static_cast<std::uint32_t>(at);
    numbers[1] = static_cast<std::uint32_t>(other);
    copy_line(from + at * kCacheLine, to);
    copy_line(from + other * kCacheLine, to + kCacheLine);
    store<std::uint32_t>(kCountAt, count + 2);
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }

  enum class Undone : std::uint8_t {
    kAll,      ///< the state is as it was before the batch
    kTooMuch,  ///< not known: the log was too short, or there is none
  };
  /// Takes back what the batch has changed. Called by recovery while no worker has the lane. A
  /// second call, also after half of the first, has the same result.
  Undone undo(std::uint16_t stream, std::uint64_t sequence) const noexcept {
    if (lines_ == 0) return Undone::kTooMuch;
    if (load<std::uint64_t>(kBatchAt) != word_of(stream, sequence)) return Undone::kAll;
    if (load<std::uint32_t>(kOverflowAt) != 0) return Undone::kTooMuch;
    for (std::uint32_t i = load<std::uint32_t>(kCountAt); i-- > 0;) {
      const std::size_t line = *number(i);
      if (i >= lines_ || (line + 1) * kCacheLine > rounded_state_bytes()) return Undone::kTooMuch;
      std::memcpy(state_.data() + line * kCacheLine, kept(i), kCacheLine);
    }
    return Undone::kAll;
  }

 private:
  static constexpr std::size_t kBatchAt = 0, kCountAt = 8, kOverflowAt = 12;

  static constexpr std::uint64_t numbers_bytes(std::uint32_t lines) noexcept {
    return (lines * sizeof(std::uint32_t) + kCacheLine - 1) / kCacheLine * kCacheLine;
  }
  static constexpr std::uint64_t word_of(std::uint16_t stream, std::uint64_t sequence) noexcept {
    return std::uint64_t{stream} << 48 | sequence;
  }
  std::size_t rounded_state_bytes() const noexcept {
    return (state_.size() + kCacheLine - 1) / kCacheLine * kCacheLine;
  }
  template <typename T>
  void store(std::size_t at, T value) const noexcept {
    std::atomic_ref(*reinterpret_cast<T*>(memory_ + at)).store(value, std::memory_order_release);
  }
  template <typename T>
  T load(std::size_t at) const noexcept {
    return std::atomic_ref(*reinterpret_cast<T*>(memory_ + at)).load(std::memory_order_acquire);
  }
  std::uint32_t* number(std::uint32_t i) const noexcept {
    return reinterpret_cast<std::uint32_t*>(memory_ + kCacheLine) + i;
  }
  std::byte* kept(std::uint32_t i) const noexcept {
    return memory_ + kCacheLine + numbers_bytes(lines_) + std::size_t{i} * kCacheLine;
  }
  void keep_line(std::size_t line) const noexcept {
    const auto count = load<std::uint32_t>(kCountAt);
    if (count == lines_) {
      store<std::uint32_t>(kOverflowAt, 1);
      std::atomic_signal_fence(std::memory_order_seq_cst);
      return;
    }
    *number(count) = static_cast<std::uint32_t>(line);
    copy_line(state_.data() + line * kCacheLine, kept(count));
    store<std::uint32_t>(kCountAt, count + 1);
    std::atomic_signal_fence(std::memory_order_seq_cst);  // the change comes after this
  }

  /// In two moves, where the processor has registers for that.
  static void copy_line(const std::byte* from, std::byte* to) noexcept {
    using Half = std::uint64_t __attribute__((vector_size(kCacheLine / 2)));
    Half halves[2];
    std::memcpy(&halves[0], from, sizeof(Half));
    std::memcpy(&halves[1], from + sizeof(Half), sizeof(Half));
    std::memcpy(to, &halves[0], sizeof(Half));
    std::memcpy(to + sizeof(Half), &halves[1], sizeof(Half));
  }

  std::byte* memory_ = nullptr;
  std::uint32_t lines_ = 0;
  std::span<std::byte> state_;
};

}  // namespace millrace
