// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "io-worker/ports/port.hpp"
#include "tests/unit/support/small_world.hpp"

/// A small topology with a loop: port 2, with two receive queues (streams 1 and 2). Stream 0 is
/// that of port a. Streams 0 and 2 leave by egress.0, stream 1 by egress.1.

namespace millrace::test {

inline constexpr const char* kLoopTopology = R"(
millrace: 1
name: loops
batch: { capacity: 8 }
egress: { count: 2 }
ports:
  a: { device: "null" }
  b: { device: "null" }
  again: { device: loop, depth: 64, queues: 2 }
paths:
  first: { from: [a], to: again }
  second: { from: [again], to: b, lanes: 2 }
)";

/// Packets whose bytes live here; frames of 60 bytes that are not IP, whose flow is `flow` and
/// whose bytes 16..23 are `number`.
class LoopFrames {
 public:
  static constexpr std::size_t kBytes = 60;
  TxPacket make(std::uint64_t number, std::uint64_t flow = 0) {
    auto& frame = frames_.emplace_back(kBytes);
    std::memcpy(frame.data(), &flow, 6);
    std::memcpy(frame.data() + 16, &number, sizeof number);
    return {0, frame, kBytes, 0};
  }
  std::vector<TxPacket> make_many(std::uint64_t first, std::uint32_t count,
                                  std::uint64_t flow = 0) {
    std::vector<TxPacket> packets;
    for (std::uint32_t i = 0; i < count; ++i) packets.push_back(make(first + i, flow));
    return packets;
  }

 private:
  std::vector<std::vector<std::byte>> frames_;
};

}  // namespace millrace::test
