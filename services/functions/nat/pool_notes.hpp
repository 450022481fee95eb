// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "services/functions/function.hpp"
#include "services/functions/nat/nat_settings.hpp"
#include "services/functions/nat/port_pool.hpp"

namespace millrace {

/// The first numbers of the FunctionCounters of a function with a pool; its own follow.
enum class PoolCounter : std::uint8_t {
  kMappingsBegun,
  kMappingsEnded,
  kBlocksTaken,  ///< by hosts that had none, or none with a free port
  kBlocksGivenBack,
  kCount,
};
inline constexpr std::uint8_t kPoolCounterCount = static_cast<std::uint8_t>(PoolCounter::kCount);

/// Counts what changes in a pool, and tells of it as `log` says, by events of RFC 8158. With
/// mappings a collector knows which host had each port; with blocks it knows that too, by a
/// fraction of the records. Of one call; borrows.
struct PoolNotes {
  NatLog log;
  const EventWriter& events;
  const FunctionCounters& counters;
  std::uint8_t inside_version = 4;  ///< of the IP packets that hosts of the inside send

  /// `tuple`: of the packet from inside that began it, in the IP version of the inside.
  void opened(const FlowTuple& tuple, const PortPool::Opening& opening) const noexcept;
  /// A flow of a mapping ends: PortPool::unmap(), and what follows from it.
  void unmap(PortPool& pool, std::uint32_t mapping, std::uint32_t remote) const noexcept;

 private:
  void note_mapping(const FlowTuple& inside, std::uint32_t address, std::uint16_t port,
                    TranslationAction action) const noexcept;
  void note_block(const FlowTuple& inside, const PortPool::Block& block,
                  TranslationAction action) const noexcept;
  void hit(PoolCounter counter) const noexcept { counters.hit(static_cast<std::size_t>(counter)); }
};

}  // namespace millrace
