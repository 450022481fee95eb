// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "shared/actor/context.hpp"

namespace millrace {

/// What an ingress has sealed of a lane: the last batch, and the running counts including it.
struct SealedLane {
  std::uint64_t sequence = 0;
  std::uint64_t received = 0;  ///< packets
  std::uint64_t received_bytes = 0;
  std::uint64_t position = 0;  ///< ordinal of the next packet
};

/// Finds that for all lanes of a stream, by lane number, from its slots and ledgers; so also for
/// batches that the ingress had not published when it died. Exact while no ingress of the stream
/// runs. Any thread.
std::vector<SealedLane> find_sealed(const ActorContext& context, std::uint32_t stream);

}  // namespace millrace
