// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "services/functions/device_function.hpp"

namespace millrace {

/// The route image as it is, 64 MB and more, with IPv6 128 MB, and a RouteTable of it there;
/// without `hops`, which only finish needs.
DeviceTable upload_route(const PlanFunction& function, DeviceMemory& memory);

}  // namespace millrace
