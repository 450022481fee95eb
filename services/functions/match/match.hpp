// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "services/functions/function.hpp"

/// `match`: literal strings over payloads. README.md in this folder says what a rule is and
/// which of several counts. Result word of a packet: number of the strongest rule that matches
/// it, plus 1; 0 for none. hits[number] counts it; hits[rule count] counts words that name no
/// rule, from a device gone wrong: such a packet passes.

namespace millrace {

FunctionType match_type();

}  // namespace millrace
