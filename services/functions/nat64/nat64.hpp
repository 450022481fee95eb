// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "services/functions/function.hpp"
#include "services/functions/nat/pool_notes.hpp"

namespace millrace {

/// Places in the reasons of `nat64`.
enum class Nat64Reason : std::uint8_t {
  kNoMapping,
  kAddress,
  kUntranslatable,
  kPortsExhausted,
  kHostLimit,
};

/// Numbers of its FunctionCounters, behind those of its pool (PoolCounter).
enum class Nat64Counter : std::uint8_t {
  kToIpv4 = kPoolCounterCount,  ///< packets that have become packets of IPv4
  kToIpv6,                      ///< and of IPv6
  kErrors,                      ///< of both, ICMP errors
  kMappings,                    ///< flows that were given a mapping, or entered by one
  kCount,
};

FunctionType nat64_type();

}  // namespace millrace
