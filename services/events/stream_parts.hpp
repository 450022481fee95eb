// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace millrace {

/// The bytes of a file that are written: parts [begin, end) that do not touch each other.
class StreamParts {
 public:
  void add(std::uint64_t begin, std::uint64_t end);
  /// Moves all parts, as the file has got `bytes` more in front.
  void move(std::uint64_t bytes);
  std::uint64_t bytes() const;  ///< in all parts
  std::size_t count() const { return parts_.size(); }
  std::uint64_t end() const;  ///< of the last part
  /// The gaps between the parts and after them, up to `end`; the first `count_max` of them.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> missing(std::uint64_t end,
                                                               std::size_t count_max) const;

 private:
  std::map<std::uint64_t, std::uint64_t> parts_;  ///< end by begin
};

}  // namespace millrace
