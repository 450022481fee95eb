// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io-worker/ports/port.hpp"
#include "shared/config/known.hpp"

/// Device `replay`: lays a capture into the pool's buffers and hands it out again and again.
/// Settings: README.md.

namespace millrace {

/// Bytes at a packet's start that are restored each time it is handed out; with `copy: true` all
/// bytes are.
inline constexpr std::uint32_t kReplayRestoredBytes = kHeaderRewriteBytes;

struct ReplaySettings {
  std::string file;
  bool loop = false;
  bool copy = false;
  std::uint64_t count = 0;  ///< packets in all; 0: endless, or one pass without loop
  double rate_mpps = 0;     ///< million packets a second; 0: as fast as they are taken
  std::uint32_t queues = 0;
};

/// Throws Error for a bad setting.
ReplaySettings replay_settings(const PlanPort& port);

/// Settings, and whether the file is a capture of Ethernet packets with at least one. Throws Error.
void check_replay(const PlanPort& port);
PortQueues replay_queues(const PlanPort& port);

/// With several queues, each has the flows that their hash gives it, as on a network card. Throws
/// Error when the capture has more packets for this queue than the pool has buffers.
///
/// Packet `ordinal` always lies in buffer first + ordinal mod (whole copies that fit the pool): the
/// mapping needs no memory of an earlier life. All bytes of a buffer are written when it is handed
/// out for the first time, so what is in flight from an earlier life stays as it is. Owns the pool:
/// every free buffer of it has to be obtainable by take_exactly().
std::unique_ptr<RxQueue> open_replay_rx(const PlanPort& port, std::uint32_t queue,
                                        const BufferSource& pool, bool restarted);

}  // namespace millrace
