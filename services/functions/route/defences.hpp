// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace millrace {

/// When addresses of ours that another host claims were last defended: once in DEFEND_INTERVAL (RFC
/// 5227 1.1, 2.4 (c)), so that two hosts that insist do not fill the link. Private memory of a
/// worker: each counts for itself. One thread.
class Defences {
 public:
  static constexpr std::uint64_t kIntervalNs = 10'000'000'000;

  /// True: `address` of `port` is to be defended now. `now_ns`: any clock that does not go back.
  bool take(std::uint8_t port, std::uint32_t address, std::uint64_t now_ns) noexcept {
    Defence& last = last_[((address ^ port) * 0x9e3779b1u) >> kShift];
    const bool known = last.used && last.port == port && last.address == address;
    if (known && now_ns - last.at_ns < kIntervalNs) return false;
    last = {.at_ns = now_ns, .address = address, .port = port, .used = true};
    return true;
  }

 private:
  static constexpr std::size_t kPlaces = 64, kShift = 26;
  struct Defence {
    std::uint64_t at_ns = 0;
    std::uint32_t address = 0;
    std::uint8_t port = 0;
    bool used = false;
  };

  std::array<Defence, kPlaces> last_;  ///< by a hash; a later one takes the place
};

}  // namespace millrace
