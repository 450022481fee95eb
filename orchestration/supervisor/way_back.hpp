// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

namespace millrace {

/// The way back from a change that has to be taken back, until that is done: what is in the way (a
/// worker that does not start, a table that is still in use) may go, so it is tried again and
/// again, ever more slowly, and given up in the end. Pure: told the time, asks no clock.
class WayBack {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::seconds kFirstPause{2};  ///< doubles with each try
  static constexpr std::chrono::seconds kPauseMax{30};
  static constexpr std::uint32_t kTriesMax = 10;  ///< some three minutes of pauses

  /// To `generation`; `why`: "as it was not confirmed".
  WayBack(std::uint64_t generation, std::string why)
      : generation_(generation), why_(std::move(why)) {}

  std::uint64_t generation() const { return generation_; }
  /// True when a try is to begin; never while one is under way.
  bool due(Time now) const { return !under_way_ && !given_up() && now >= next_; }
  void begin();
  /// The try that was begun has not worked.
  void failed(const std::string& error, Time now);
  bool given_up() const { return !under_way_ && tries_ == kTriesMax; }

  /// "taken back to 3, as it was not confirmed": what it is in the history once it is done.
  std::string what() const;
  /// How it stands, and what can be done, for people; `run`: as words_for_run() names it.
  std::string text(const std::string& run) const;

 private:
  std::uint64_t generation_;
  std::string why_, error_;
  std::uint32_t tries_ = 0;
  bool under_way_ = false;
  std::chrono::seconds pause_ = kFirstPause;
  Time next_{};
};

}  // namespace millrace
