// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/acl/acl_gpu.hpp"

#include <span>
#include <vector>

#include "services/functions/acl/acl_image.hpp"
#include "services/functions/acl/acl_settings.hpp"
#include "shared/base/error.hpp"

namespace millrace {
namespace {

/// Ethernet, IPv6, ports and flags of TCP. Tags and extension headers are read in place.
constexpr std::uint32_t kFrameBytes = 80;

std::vector<std::uint32_t> drops_of(std::span<const AclRule> rules, bool default_drops) {
  std::vector<std::uint32_t> bits(rules.size() / 32 + 1);
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (acl_drops(rules[i], default_drops)) bits[i / 32] |= std::uint32_t{1} << i % 32;
  }
  return bits;
}

}  // namespace

DeviceTable upload_acl(const PlanFunction& function, DeviceMemory& memory) {
  const AclImage image(function.image);
  if (image.bits() == nullptr) {
    throw Error("these rules have no table for a GPU: it would be too large, as the builder said");
  }
  const std::byte* const there = memory.copy(image.bytes());
  const AclSettings settings = acl_settings(function);
  const std::vector<std::uint32_t> drops = drops_of(image.rules(), settings.default_drops);
  const AclGpuTable table{.bits = {acl_bits_at<std::uint32_t>(there, image.header().ipv4),
                                   acl_bits_at<Address128>(there, image.header().ipv6)},
                          .drops = memory.copy_of(std::span<const std::uint32_t>(drops)),
                          .rule_count = static_cast<std::uint32_t>(image.rules().size()),
                          .default_drops = settings.default_drops ? 1u : 0u,
                          .non_ip_drops = settings.non_ip_drops ? 1u : 0u};
  DeviceTable out = device_table(DeviceKind::kAcl, kFrameBytes, table);
  out.needs_frames = table.bits.has_conditions() ? 1 : 0;
  return out;
}

}  // namespace millrace
