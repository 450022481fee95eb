// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "services/functions/nat64/nat64.hpp"
#include "tests/unit/services/functions/nat64/version_frames.hpp"
#include "tests/unit/services/functions/translation_stage.hpp"

/// A stage of `flow` and `nat64`. Frames are those of nat64.golden; the host is given the port that
/// the table has, as the pool has no other one.

namespace millrace::nat64_test {

/// A frame behind nat64, and why it was dropped: its place in the reasons of nat64 (`malformed`
/// and other reasons of the core: kOther), or -1.
struct Seen {
  Frame frame;
  int reason = -1;
};
inline constexpr int kOther = -2;

class Nat64Test : public TranslationStage {
 protected:
  Nat64Test()
      : TranslationStage(
            nat64_type(),
            {{"inside", "lan"}, {"pool", "203.0.113.1"}, {"ports", "1024-1024"}, {"block", "2"}},
            {{.name = "lan", .addresses = {"2001:db8:1::1/64"}},
             {.name = "wan", .addresses = {"192.0.2.1/24"}}}) {}

  Seen send(std::uint8_t port, const Frame& frame) {
    run(port, {frame});
    Seen seen{.frame = frame_at(0)};
    if (!arena_.batch().is_dropped(0)) return seen;
    const int reason = arena_.batch().reason[0];
    seen.reason = reason < kFirstReason ? kOther : reason - kFirstReason;
    return seen;
  }
  Case named(std::string_view name) const {
    for (const Case& one : all_golden_cases()) {
      if (one.name == name) return one;
    }
    ADD_FAILURE() << "no case " << name;
    return {};
  }
};

/// The same but for the identification of IPv4, which the worker draws, and what it changes.
inline Frame without_identification(Frame frame) {
  if (wire_bytes::u16(frame, 12) != 0x0800 || (wire_bytes::u16(frame, 20) & 0x4000) != 0) {
    return frame;
  }
  wire_bytes::put16(frame, 18, 0);
  wire_bytes::put16(frame, 24, 0);
  return frame;
}

}  // namespace millrace::nat64_test
