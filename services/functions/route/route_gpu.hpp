// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "services/functions/device_function.hpp"
#include "services/functions/route/route_image.hpp"

namespace millrace {

/// A route table in the memory of a GPU.
struct RouteGpuTable {
  RouteTable table;  ///< without next hops
  /// Of a live image: where table.table24 is now, and with it all that lies behind it, as far away
  /// as it was. Words there change at any moment. Null: where `table` says, for ever.
  const std::byte* const* now = nullptr;
};

/// Copies the part of the function's image that is looked up in. That of a live image follows it
/// (LiveCopy).
DeviceTable upload_route(const PlanFunction& function, DeviceMemory& memory);

}  // namespace millrace
