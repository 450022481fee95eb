// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "services/functions/function.hpp"

namespace millrace {

/// `inspect`: the rules of `match` over byte streams of TCP, and over the packets of all others. It
/// stands behind `flow` in its stage. The README says what passes. Behind the counters of rules and
/// MatchExtra it has those of StreamCounter.
FunctionType inspect_type();

}  // namespace millrace
