// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "orchestration/cli/host_clock.hpp"
#include "orchestration/cli/snapshot.hpp"
#include "shared/base/clock.hpp"
#include "shared/watch/watch_file.hpp"

/// The watcher's side of a watch file (shared/watch/watch_file.hpp): what the actors show, merged
/// by time.

namespace millrace {

/// A place to look at.
struct WatchPlace {
  enum class Kind : std::uint8_t { kPortIn, kPortOut, kLink, kDropped } kind = Kind::kPortIn;
  std::uint32_t number = 0;  ///< of the port, or link
  std::string name;          ///< "wan in", "front.0_egress.0", "dropped"
};

/// The places that are meant. `ports`: "wan", "wan:in" or "wan:out"; `links`: as `millrace plan`
/// names them. Nothing named at all: every port, both ways. Throws Error with the names that there
/// are, or when there are more than kWatchPointMax.
std::vector<WatchPlace> watch_places(const Plan& plan, const std::vector<std::string>& ports,
                                     const std::vector<std::string>& links, bool dropped);

/// The program of a pcap filter; none for an empty text. Throws Error that says what is wrong.
std::vector<std::uint64_t> filter_of_option(const std::string& text);

/// What to ask the actors for: points are numbered as the places.
WatchWish wish_of(const Plan& plan, const std::vector<WatchPlace>& places);

/// How long to wait when there was nothing to show.
inline constexpr std::chrono::milliseconds kWatchPause{5};

class Watching {
 public:
  /// Makes the file; it belongs to the user that owns `run_dir`. `observed` is borrowed.
  Watching(const Observed& observed, const std::string& run_dir, const WatchWish& wish);

  /// Waits until all actors that have a ring and live show what they have. Returns the names of
  /// those that do not in time.
  std::vector<std::string> await_attached(std::chrono::milliseconds limit) const;

  /// The same for 2 s; stderr hears of which `what` ("packets") are missing.
  std::vector<std::string> await_all(const std::string& what) const;
  /// Of these names: which have shown nothing until now, in no life of theirs.
  std::vector<std::string> still_silent(const std::vector<std::string>& names) const;
  /// The topology still runs. Looks every 200 ms, so it may be asked at any rate.
  bool goes_on();

  /// From now on packets may be chosen to be followed.
  void begin_to_follow() noexcept { file_.begin_to_follow(); }

  struct Shown {
    const WatchRecord* record = nullptr;
    std::span<const std::byte> bytes;
    std::uint64_t time_ns = 0;  ///< by the system clock as it is now
  };
  /// The next record; valid until the next call. False: there is none yet. What two actors have
  /// shown is merged by time, so it comes a moment later, unless `at_once`.
  bool next(Shown& shown, bool at_once);
  /// Packets of a point that found no room.
  std::uint64_t missed(std::uint32_t point) const;
  std::uint64_t time_ns(std::uint64_t tsc) const { return clock_.to_ns(tsc); }

 private:
  struct Ring {
    WatchRing* indexes = nullptr;
    std::byte* base = nullptr;
  };
  const WatchRecord* peek(const Ring& ring) const;
  std::vector<std::string> not_attached() const;

  const Observed& observed_;
  WatchFile file_;
  std::vector<Ring> rings_;
  TscScale scale_;
  HostClock clock_;
  bool goes_on_ = true;
  std::uint64_t looked_ns_ = 0;  ///< when that was last looked at
  const Ring* shown_ = nullptr;  ///< whose record is out
  std::uint64_t shown_bytes_ = 0;
};

}  // namespace millrace
