// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "services/functions/function.hpp"

/// `tee`: copies of packets leave by another port (README.md in this folder). Every packet passes;
/// result words are 0.

namespace millrace {

/// Entries of FunctionCounters::hits. What leaves is counted by the ledgers (generated{copy}).
enum class TeeCounter : std::uint8_t {
  kSeen = 0,    ///< packets of which a copy was asked for, where their fate is one of `packets`
  kNoRoom = 1,  ///< packets of which none could be: the side list was full
};
inline constexpr std::size_t kTeeCounterCount = 2;

FunctionType tee_type();

}  // namespace millrace
