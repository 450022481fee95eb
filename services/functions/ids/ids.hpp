// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "services/functions/function.hpp"

namespace millrace {

/// Numbers in FunctionCounters::hits behind those of rules; behind them those of StreamCounter. The
/// README has them too.
enum class IdsCounter : std::uint8_t {
  kDroppedFlow,  ///< packets of flows that a rule has dropped
  kPassedFlow,   ///< packets of flows that a rule has passed
  kLostParser,   ///< flows that are no longer parsed: what a parser was in the middle of was lost
  kHidden,       ///< what cannot be looked at: fragments that are not put together, tunnels that
                 ///< are too deep, IPv6 whose headers could not be walked to their end
  kReset,        ///< segments that went on as a RST for their receiver
  kDatagram,     ///< datagrams that were put together
  kCarried,      ///< packets in tunnels that were looked at
  kClean,        ///< payloads in which a function in front has found no fast pattern
  kGivenUp,      ///< looks at rules, and bodies, that were given up: they cost too much
  kMadeRoom,     ///< flows that gave up parsers and waiting rules, to make room for others
  kCount
};

/// Reasons of drops, in the order of FunctionTraits::reasons; the first one is RuleReason's.
enum class IdsReason : std::uint8_t { kRule, kConflict, kFull, kCostly };

/// The function of a worker; its image is built. Throws Error.
std::unique_ptr<Function> make_ids(const FunctionContext& context);

/// `ids`: rules of Suricata and Snort over packets, byte streams of TCP and what they carry. It
/// stands behind `flow` in its stage. The README says what passes.
FunctionType ids_type();

}  // namespace millrace
