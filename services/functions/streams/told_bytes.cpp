// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/streams/told_bytes.hpp"

#include <algorithm>

#include "services/functions/stream/stream_table.hpp"

namespace millrace {
namespace {

/// A hole that is so far behind is given up: numbers have to be told apart.
constexpr std::uint64_t kHoleAgeMax = std::uint64_t{1} << 28;

struct Range {
  std::uint64_t begin, end;
};

/// Of a number near `base`.
std::uint64_t whole_of(std::uint64_t base, std::uint32_t low) noexcept {
  return base + static_cast<std::uint32_t>(low - static_cast<std::uint32_t>(base));
}

/// The ranges of a direction as numbers of 64 bits, in order; the first is [first, next).
class Ranges {
 public:
  explicit Ranges(const ToldBytes& told) noexcept {
    add({told.first, told.next});
    for (std::uint8_t i = 0; i < told.ahead_count; ++i) {
      add({whole_of(told.next, told.ahead[i].begin), whole_of(told.next, told.ahead[i].end)});
    }
  }
  std::span<const Range> all() const noexcept { return std::span(ranges_).first(count_); }

  /// Joins it with those that it touches.
  void join(Range one) noexcept {
    std::size_t to = 0;
    bool is_put = false;
    std::array<Range, kMax> joined;
    for (std::size_t i = 0; i < count_; ++i) {
      const Range& other = ranges_[i];
      if (other.end < one.begin) {
        joined[to++] = other;
      } else if (one.end < other.begin) {
        if (!is_put) joined[to++] = one;
        is_put = true;
        joined[to++] = other;
      } else {
        one = {std::min(one.begin, other.begin), std::max(one.end, other.end)};
      }
    }
    if (!is_put) joined[to++] = one;
    ranges_ = joined;
    count_ = to;
  }
  void give_up_hole() noexcept {
    if (count_ < 2 || ranges_[count_ - 1].end - ranges_[0].end <= kHoleAgeMax) return;
    join({ranges_[0].begin, ranges_[1].begin});
  }
  /// False: there are too many.
  bool write_to(ToldBytes& told) const noexcept {
    if (count_ - 1 > ToldBytes::kAheadMax) return false;
    told.first = ranges_[0].begin;
    told.next = ranges_[0].end;
    told.ahead_count = static_cast<std::uint8_t>(count_ - 1);
    for (std::size_t i = 1; i < count_; ++i) {
      told.ahead[i - 1] = {static_cast<std::uint32_t>(ranges_[i].begin),
                           static_cast<std::uint32_t>(ranges_[i].end)};
    }
    return true;
  }

 private:
  static constexpr std::size_t kMax = ToldBytes::kAheadMax + 2;
  void add(const Range& range) noexcept { ranges_[count_++] = range; }

  std::array<Range, kMax> ranges_;
  std::size_t count_ = 0;
};

}  // namespace

void begin_told(ToldBytes& told, std::uint32_t sequence) noexcept {
  told = {};
  told.is_known = 1;
  told.start = sequence;
}

void pick_up_told(ToldBytes& told, std::uint32_t sequence) noexcept {
  begin_told(told, sequence - static_cast<std::uint32_t>(kStreamOrigin));
  told.is_picked_up = 1;
  told.first = told.next = told.seen = kStreamOrigin;
}

std::size_t tell_bytes(ToldBytes& told, std::uint32_t sequence, std::uint32_t bytes,
                       std::uint64_t depth, std::optional<std::uint32_t> acknowledged,
                       std::span<NewBytes, kNewBytesMax> out) noexcept {
  const auto next = told.start + static_cast<std::uint32_t>(told.next);
  const std::int64_t distance = sequence_distance(next, sequence);
  const std::int64_t position = static_cast<std::int64_t>(told.next) + distance;
  std::int64_t end = position + bytes;
  if (end <= 0) return 0;
  const std::uint64_t seen = told.seen;  // up to there a receiver may have acknowledged
  told.seen = std::max(seen, static_cast<std::uint64_t>(end));
  const std::uint64_t origin = told.is_picked_up != 0 ? kStreamOrigin : 0;
  if (depth != 0) end = std::min(end, static_cast<std::int64_t>(origin + depth));
  const Range segment{static_cast<std::uint64_t>(std::max<std::int64_t>(position, 0)),
                      static_cast<std::uint64_t>(std::max<std::int64_t>(end, 0))};
  Ranges ranges(told);
  if (told.has_forgotten != 0 && acknowledged) {
    const std::int64_t more = sequence_distance(next, *acknowledged);
    const std::uint64_t until =
        told.next + static_cast<std::uint64_t>(std::max<std::int64_t>(more, 0));
    ranges.join({told.first, std::max(told.next, std::min(until, seen))});
  }
  std::size_t count = 0;
  std::uint64_t at = segment.begin;
  const auto put = [&](std::uint64_t until) {
    const auto offset = static_cast<std::uint32_t>(static_cast<std::int64_t>(at) - position);
    out[count++] = {at, offset, static_cast<std::uint32_t>(until - at)};
  };
  for (const Range& range : ranges.all()) {
    if (at < std::min(segment.end, range.begin)) put(std::min(segment.end, range.begin));
    at = std::max(at, range.end);
  }
  if (at < segment.end) put(segment.end);
  if (count == 0) return 0;
  ranges.join(segment);
  ranges.give_up_hole();
  if (!ranges.write_to(told)) told.has_forgotten = 1;
  return count;
}

}  // namespace millrace
