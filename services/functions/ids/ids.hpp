// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "services/functions/function.hpp"

namespace millrace {

/// Numbers in FunctionCounters::hits behind those of rules; behind them those of StreamCounter. The
/// README has them too.
enum class IdsCounter : std::uint8_t {
  kDroppedFlow,  ///< packets of flows that a rule has dropped
  kPassedFlow,   ///< packets of flows that a rule has passed
  kLostParser,   ///< flows that are no longer parsed: what a parser was in the middle of was lost
  kHidden,       ///< dropped: fragments, and IPv6 whose headers could not be walked to their end
  kReset,        ///< segments that went on as a RST for their receiver
  kCount
};

/// `ids`: rules of Suricata and Snort over packets, byte streams of TCP and what they carry. It
/// stands behind `flow` in its stage. The README says what passes.
FunctionType ids_type();

}  // namespace millrace
