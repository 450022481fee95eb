// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/refused_flows.hpp"

#include <tuple>

namespace millrace {
namespace {

/// The same of both directions: the side that is seen first counts as the client.
FlowTuple key_of(const FlowTuple& tuple) noexcept {
  const bool is_in_order = std::tie(tuple.source, tuple.source_port) <=
                           std::tie(tuple.destination, tuple.destination_port);
  return is_in_order ? tuple : reversed(tuple);
}

}  // namespace

void RefusedFlows::add(const FlowTuple& tuple, std::uint32_t now_s) noexcept {
  const FlowTuple key = key_of(tuple);
  if (AgedEntry* const there = table_.find(key)) return table_.see(*there, now_s);
  if (table_.count() >= kEntries) table_.end(*table_.oldest());
  table_.begin(key, now_s);
}

bool RefusedFlows::has(const FlowTuple& tuple, std::uint32_t now_s) const noexcept {
  const AgedEntry* const there = table_.find(key_of(tuple));
  return there != nullptr && now_s - there->seen_s < kSeconds;
}

}  // namespace millrace
