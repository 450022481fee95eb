// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// What bodies of one connection that inflate to much cost.

namespace millrace {

class WorkShare;

/// One body so far.
struct InflatedBody {
  std::uint64_t bytes = 0;     ///< as they came
  std::uint64_t inflated = 0;  ///< what they inflated to
  std::uint64_t beyond = 0;    ///< of that, what is beyond what pages have; the bill's note
};

/// Pages inflate to some twenty times their bytes. What a body has beyond kFreeOfByte for each byte
/// costs units of work, but for a first unit of each connection: there may be many bodies in a
/// segment. One thread.
class InflateBill {
 public:
  static constexpr std::uint64_t kFreeOfByte = 32;

  /// `work`: borrowed; null: no bound. False: no units are left for the body, or were for one
  /// before: it is not inflated further, and WorkShare::lose_body() was called.
  bool pays(WorkShare* work, InflatedBody& body);

 private:
  std::uint64_t inflated_ = 0;  ///< of all bodies, beyond what pages have
  std::uint64_t paid_ = 0;      ///< of it, what units were taken for
  bool has_lost_body_ = false;
};

}  // namespace millrace
