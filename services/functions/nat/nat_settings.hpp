// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "services/functions/nat/port_pool.hpp"
#include "shared/config/known.hpp"
#include "shared/config/plan.hpp"

namespace millrace {

/// Outside addresses that always stand for inside ones (`static`), or one port of such an address
/// (`publish`). IPv4, host order.
struct NatFixed {
  std::uint32_t outside = 0, inside = 0;
  std::uint32_t count = 1;                          ///< addresses, from these on
  std::uint8_t protocol = 0;                        ///< of `publish`: 6, 17; 0: all packets
  std::uint16_t outside_port = 0, inside_port = 0;  ///< of `publish`
};

/// Which events say what is translated.
enum class NatLog : std::uint8_t { kNone, kMappings, kBlocks };

struct NatSettings {
  std::vector<std::string> inside;  ///< names of ports
  std::vector<std::uint32_t> pool;  ///< ascending, IPv4, host order
  std::string masquerade;           ///< a port with an address that is in the pool; empty: none
  std::uint16_t first_port = 1024, last_port = 65535;
  std::uint32_t block = 64;
  NatFiltering filtering = NatFiltering::kEndpoint;
  std::uint32_t host_limit = 0;
  NatLog log = NatLog::kNone;
  std::uint64_t max = 65'536;          ///< mappings of all lanes together
  std::vector<NatFixed> fixed;         ///< those of `publish` first
  std::vector<ReservedPort> reserved;  ///< ports of `publish` that the pool would give else
  std::string hairpin;                 ///< name of a port of device `loop`; empty: none

  /// Blocks of ports of the whole pool.
  std::uint64_t blocks() const noexcept {
    return std::uint64_t{pool.size()} * (last_port / block - first_port / block + 1);
  }
  /// Of one of `lanes` lanes. Borrows from this.
  PortPoolShape shape(std::uint32_t lanes) const noexcept;
};

inline constexpr std::size_t kNatFixedMax = 1024;
/// Of `ports`, unless the settings say it, with `masquerade`: kernels of Linux take ports from
/// 32768 on for connections of their own.
inline constexpr std::uint16_t kMasqueradeLastPort = 32767;

std::span<const KnownSetting> known_nat_settings();
/// Throws Error that names the key and the value. `masqueraded`: the address of the port that
/// `masquerade` names, IPv4, host order; 0 stands in the pool for one that is not known, so that
/// its size is right (nat_settings_at() knows it).
NatSettings nat_settings(const Settings& settings, std::uint32_t masqueraded = 0);

}  // namespace millrace
