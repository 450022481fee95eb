// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

namespace millrace {

/// Counts workers that died, or hung, in a function's code, and says when to take the function out.
/// Pure: told the time, asks no clock. One thread.
class FunctionWatch {
 public:
  static constexpr std::uint64_t kWindowNs = 60'000'000'000;

  /// `limit`: deaths within kWindowNs that take a function out; 0: none ever does.
  FunctionWatch(std::size_t functions, std::uint32_t limit) : limit_(limit), deaths_(functions) {}
  /// A worker died in the function. True: take the function out now; its count begins anew.
  bool died(std::uint32_t function, std::uint64_t now_ns);
  /// Deaths in the kWindowNs that end with the last one, which counts too.
  std::size_t recent(std::uint32_t function) const { return deaths_[function].size(); }

 private:
  std::uint32_t limit_;
  std::vector<std::deque<std::uint64_t>> deaths_;  ///< by function; times, at most `limit_` each
};

}  // namespace millrace
