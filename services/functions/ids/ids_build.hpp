// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "services/functions/function.hpp"

namespace millrace {

/// Reads the rule files of the function and what stands beside them, and writes its image.
/// `extra_counters`: behind those of the rules. Builder's thread. Throws Error.
BuildReport build_ids_image(const FunctionContext& context, std::uint32_t extra_counters);

}  // namespace millrace
