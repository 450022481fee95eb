// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "services/functions/acl/acl_bits.hpp"
#include "services/functions/device_function.hpp"

namespace millrace {

/// The table of `acl` on a GPU.
struct AclGpuTable {
  AclBitsTable bits;
  const std::uint32_t* drops = nullptr;  ///< bit i: packets whose first rule is i are dropped
  std::uint32_t rule_count = 0;
  std::uint32_t default_drops = 0, non_ip_drops = 0;  ///< 0 or 1

  /// True when finish is going to drop a packet with this word.
  constexpr bool ends(std::uint32_t word) const {
    if (word - 1 < rule_count) return (drops[(word - 1) / 32] >> (word - 1) % 32 & 1) != 0;
    if (word == kAclHidden) return true;
    return (word == kAclNotIp ? non_ip_drops : default_drops) != 0;
  }
};

/// The bit vectors of the function's image. Throws Error when the builder left them out.
DeviceTable upload_acl(const PlanFunction& function, DeviceMemory& memory);

}  // namespace millrace
