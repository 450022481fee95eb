// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "services/functions/event_writer.hpp"
#include "shared/layout/mapping.hpp"

namespace millrace {

/// A ring of events, and what a function has told into it.
struct EventRingOfTest {
  /// Borrows the batch.
  EventWriter writer(const Batch& batch, std::uint32_t function = 0) {
    return {&log, batch, function};
  }
  EventWriter writer(const Batch&&, std::uint32_t = 0) = delete;  // it would not outlive the call
  /// All since the last call.
  std::vector<EventRecord> told() {
    log.publish();
    std::vector<EventRecord> out(kEventRingRecords);
    std::uint64_t skipped = 0;
    out.resize(reader.peek(out, skipped));
    reader.let_go_until(reader.head() + out.size());
    return out;
  }

  Mapping memory = Mapping::create_anonymous(event_rings_bytes(1));
  EventRings rings{memory.base(), 1};
  EventLog log{rings, 0};
  EventReader reader{rings, 0};
};

}  // namespace millrace
