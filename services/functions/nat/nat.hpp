// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "services/functions/function.hpp"
#include "services/functions/nat/pool_notes.hpp"

namespace millrace {

/// Places in the reasons of `nat`.
enum class NatReason : std::uint8_t {
  kNoMapping,
  kPortsExhausted,
  kHostLimit,
};

/// Numbers of its FunctionCounters, behind those of its pool (PoolCounter).
enum class NatCounter : std::uint8_t {
  kTranslated = kPoolCounterCount,  ///< packets with changed addresses or ports
  kErrors,                          ///< of these, ICMP errors
  kMappings,                        ///< flows that were given a mapping, or entered by one
  kFixed,                           ///< flows by `static` and `publish`
  kHairpins,                        ///< packets from inside that come in by the loop once more
  kCount,
};

FunctionType nat_type();

}  // namespace millrace
