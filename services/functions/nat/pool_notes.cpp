// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/nat/pool_notes.hpp"

#include "services/functions/nat/nat_address.hpp"

namespace millrace {

void PoolNotes::note_mapping(const FlowTuple& inside, std::uint32_t address, std::uint16_t port,
                             TranslationAction action) const noexcept {
  const bool begins = action == TranslationAction::kCreated;
  hit(begins ? PoolCounter::kMappingsBegun : PoolCounter::kMappingsEnded);
  if (log != NatLog::kMappings) return;
  const FlowTuple from{.source = inside.source,
                       .source_port = inside.source_port,
                       .protocol = inside.protocol,
                       .version = inside.version};
  const FlowTuple outside{
      .source = nat_bytes(address), .source_port = port, .protocol = inside.protocol, .version = 4};
  events.translation(from, outside, action, TranslationScope::kMapping);
}

void PoolNotes::note_block(const FlowTuple& inside, const PortPool::Block& block,
                           TranslationAction action) const noexcept {
  const bool begins = action == TranslationAction::kCreated;
  hit(begins ? PoolCounter::kBlocksTaken : PoolCounter::kBlocksGivenBack);
  if (log != NatLog::kBlocks) return;
  const FlowTuple outside{.source = nat_bytes(block.address),
                          .source_port = block.first,
                          .destination_port = block.last,
                          .version = 4};
  events.translation({.source = inside.source, .version = inside.version}, outside, action,
                     TranslationScope::kBlock);
}

void PoolNotes::opened(const FlowTuple& tuple, const PortPool::Opening& opening) const noexcept {
  constexpr auto kCreated = TranslationAction::kCreated;
  if (opening.begins) note_mapping(tuple, opening.address, opening.port, kCreated);
  if (opening.block) note_block(tuple, *opening.block, kCreated);
}

void PoolNotes::unmap(PortPool& pool, std::uint32_t mapping, std::uint32_t remote) const noexcept {
  constexpr auto kRemoved = TranslationAction::kRemoved;
  auto closed = pool.unmap(mapping, remote);
  if (!closed) return;
  closed->inside.version = inside_version;
  note_mapping(closed->inside, closed->address, closed->port, kRemoved);
  if (closed->block) note_block(closed->inside, *closed->block, kRemoved);
}

}  // namespace millrace
