// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace millrace {

/// Places of a segment's bytes, [begin, end).
struct SegmentPlaces {
  std::size_t begin, end;
};

/// The table of which version of a byte a system keeps, where two segments overlap, case by case.
inline bool is_new_version_kept(std::string_view system, SegmentPlaces old, SegmentPlaces now) {
  const auto is_one_of = [&](std::vector<std::string_view> names) {
    for (const std::string_view name : names) {
      if (name == system) return true;
    }
    return false;
  };
  if (system == "last") return true;
  const bool is_of_solaris = is_one_of({"solaris", "old-solaris", "hpux11"});
  if (now.begin == old.begin) {
    if (now.end < old.end) return false;
    if (now.end > old.end && system == "linux") return true;
    return is_of_solaris || system == "old-linux";
  }
  if (now.begin < old.begin) {
    if (is_of_solaris) return now.end >= old.end;
    return !is_one_of({"first", "vista"});
  }
  return is_of_solaris && now.end > old.end;
}

/// A receiver that keeps every segment, and asks the table of each one that has brought a byte
/// before. What it has in order it does not change.
struct SystemReceiver {
  explicit SystemReceiver(std::string_view name) : system(name) {}
  void take(std::size_t at, std::string_view data) {
    const SegmentPlaces now{at, at + data.size()};
    for (std::size_t place = std::max(at, delivered.size()); place < now.end; ++place) {
      bool is_kept = true;
      for (const SegmentPlaces& old : segments) {
        if (old.begin <= place && place < old.end) {
          is_kept = is_kept && is_new_version_kept(system, old, now);
        }
      }
      if (is_kept) waiting[place] = data[place - at];
    }
    segments.push_back(now);
    while (waiting.contains(delivered.size())) delivered += waiting[delivered.size()];
  }
  std::string_view system;
  std::string delivered;
  std::map<std::size_t, char> waiting;
  std::vector<SegmentPlaces> segments;
};

}  // namespace millrace
