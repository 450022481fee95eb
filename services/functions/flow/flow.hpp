// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "services/functions/flow/flow_counter.hpp"
#include "services/functions/function.hpp"

/// The function `flow`: which connection each packet belongs to. See README.md.

namespace millrace {

FunctionType flow_type();

}  // namespace millrace
