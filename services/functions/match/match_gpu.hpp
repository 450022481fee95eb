// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "services/functions/device_function.hpp"
#include "services/functions/match/literal_index.hpp"

namespace millrace {

/// The table of `match` on a GPU.
struct MatchGpuTable {
  LiteralIndex index;
  std::uint32_t serial = 0;  ///< no two tables of a process have the same; never 0
};

/// The index of the function's image.
DeviceTable upload_match(const PlanFunction& function, DeviceMemory& memory);

}  // namespace millrace
