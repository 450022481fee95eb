// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "services/functions/function.hpp"

namespace millrace {

/// Numbers in FunctionCounters::hits. The README has them too.
enum class PrefilterCounter : std::uint8_t {
  kClean,   ///< packets without any of the literals in their payload, or without payload
  kHit,     ///< packets with one
  kHidden,  ///< packets whose payload could not be found: kMatchHidden
  kCount
};

/// `prefilter`: looks in each payload for the fast patterns of the rules of an `ids` behind it, and
/// leaves a hint with the batch (shared/layout/payload_hint.hpp). It has no state and changes no
/// fate. Result word of a packet: that of `match` for the same literals.
FunctionType prefilter_type();

}  // namespace millrace
