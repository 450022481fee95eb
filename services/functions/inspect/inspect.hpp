// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "services/functions/function.hpp"

namespace millrace {

/// Numbers in FunctionCounters::hits behind those of rules and MatchExtra. The README has them too.
enum class InspectCounter : std::uint8_t {
  kTexts,      ///< segments that let their receiver read on
  kAhead,      ///< data that waits for what is missing in front of it
  kSeen,       ///< data that was there already, and is the same
  kNoFlow,     ///< dropped: data of no connection, or against its state
  kUnread,     ///< dropped: fragments, headers that are cut or contradict themselves, data of a SYN
  kChecksum,   ///< dropped: wrong checksum
  kConflicts,  ///< dropped: not what was there, or not to be compared
  kNoRoom,     ///< dropped: no room for its bytes, or its stream
  kUrgent,     ///< segments that lost the flag URG
  kCount
};

/// `inspect`: the rules of `match` over byte streams of TCP, and over the packets of all others. It
/// stands behind `flow` in its stage. The README says what passes.
FunctionType inspect_type();

}  // namespace millrace
