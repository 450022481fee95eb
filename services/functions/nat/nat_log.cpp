// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/nat/nat_log.hpp"

#include "services/functions/nat/nat_address.hpp"

namespace millrace {
namespace {

void log_mapping(const EventWriter& events, const FlowTuple& inside, std::uint32_t address,
                 std::uint16_t port, TranslationAction action) noexcept {
  const FlowTuple outside{
      .source = nat_bytes(address), .source_port = port, .protocol = inside.protocol, .version = 4};
  const FlowTuple from{.source = inside.source,
                       .source_port = inside.source_port,
                       .protocol = inside.protocol,
                       .version = inside.version};
  events.translation(from, outside, action, TranslationScope::kMapping);
}

void log_block(const EventWriter& events, const FlowTuple& inside, const PortPool::Block& block,
               TranslationAction action) noexcept {
  const FlowTuple outside{.source = nat_bytes(block.address),
                          .source_port = block.first,
                          .destination_port = block.last,
                          .version = 4};
  events.translation({.source = inside.source, .version = inside.version}, outside, action,
                     TranslationScope::kBlock);
}

}  // namespace

void log_opening(NatLog wanted, const EventWriter& events, const FlowTuple& tuple,
                 const PortPool::Opening& opened) noexcept {
  constexpr auto kCreated = TranslationAction::kCreated;
  if (wanted == NatLog::kMappings && opened.begins) {
    log_mapping(events, tuple, opened.address, opened.port, kCreated);
  }
  if (wanted == NatLog::kBlocks && opened.block) log_block(events, tuple, *opened.block, kCreated);
}

void log_closing(NatLog wanted, const EventWriter& events,
                 const PortPool::Closing& closed) noexcept {
  constexpr auto kRemoved = TranslationAction::kRemoved;
  if (wanted == NatLog::kMappings) {
    log_mapping(events, closed.inside, closed.address, closed.port, kRemoved);
  }
  if (wanted == NatLog::kBlocks && closed.block) {
    log_block(events, closed.inside, *closed.block, kRemoved);
  }
}

}  // namespace millrace
