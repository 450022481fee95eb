// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/events/stream_parts.hpp"

#include <algorithm>
#include <iterator>

namespace millrace {

void StreamParts::add(std::uint64_t begin, std::uint64_t end) {
  if (begin >= end) return;
  auto at = parts_.upper_bound(begin);
  if (at != parts_.begin() && std::prev(at)->second >= begin) --at;
  while (at != parts_.end() && at->first <= end) {
    begin = std::min(begin, at->first);
    end = std::max(end, at->second);
    at = parts_.erase(at);
  }
  parts_.emplace(begin, end);
}

void StreamParts::move(std::uint64_t bytes) {
  std::map<std::uint64_t, std::uint64_t> moved;
  for (const auto& [begin, end] : parts_) moved.emplace(begin + bytes, end + bytes);
  parts_ = std::move(moved);
}

std::uint64_t StreamParts::bytes() const {
  std::uint64_t sum = 0;
  for (const auto& [begin, end] : parts_) sum += end - begin;
  return sum;
}

std::uint64_t StreamParts::end() const { return parts_.empty() ? 0 : parts_.rbegin()->second; }

std::vector<std::pair<std::uint64_t, std::uint64_t>> StreamParts::missing(
    std::uint64_t end, std::size_t count_max) const {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> gaps;
  std::uint64_t at = 0;
  const auto put = [&](std::uint64_t until) {
    if (at < until && gaps.size() < count_max) gaps.emplace_back(at, until);
  };
  for (const auto& [begin, part_end] : parts_) {
    put(std::min(begin, end));
    at = part_end;
  }
  put(end);
  return gaps;
}

}  // namespace millrace
