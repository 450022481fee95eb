// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "services/functions/flow/flow_tuple.hpp"
#include "services/functions/nat/nat_settings.hpp"
#include "shared/config/plan.hpp"

namespace millrace {

/// What the settings and the ports say of addresses. IPv4, host order. Nothing but the constructor
/// allocates or throws.
class NatSides {
 public:
  /// Throws Error where an address of a port cannot be read.
  NatSides(const NatSettings& settings, std::span<const PlanPort> ports);

  /// Packets from this port come from inside.
  bool is_inside(std::uint8_t port) const noexcept { return port < 64 && (inside_ >> port & 1); }
  /// An address of a port, or what no router forwards: a multicast or the broadcast address.
  bool is_own(std::uint32_t address) const noexcept;
  /// An own one that is in the pool (`masquerade`): no packet from a network has it as its source.
  bool is_masqueraded(std::uint32_t address) const noexcept {
    return std::ranges::find(masqueraded_, address) != masqueraded_.end();
  }
  /// Packets from inside to it are not translated: an own one, or one of a network of the inside.
  bool stays_inside(std::uint32_t address) const noexcept;
  bool in_pool(std::uint32_t address) const noexcept;
  /// In the pool, or an outside one of `static` or `publish`.
  bool is_outside(std::uint32_t address) const noexcept;
  /// By this port packets from inside to is_outside() come in once more. Nothing: they do not.
  std::optional<std::uint8_t> hairpin() const noexcept { return hairpin_; }

  /// What stands for an inside address by `static`.
  std::optional<std::uint32_t> fixed_outside(std::uint32_t inside) const noexcept;
  struct Inside {
    std::uint32_t address = 0;
    std::uint16_t port = 0;
  };
  /// What an outside address and port stand for by `publish` and `static`. Without a protocol (0):
  /// by `static` alone.
  std::optional<Inside> fixed_inside(std::uint32_t outside, std::uint16_t port,
                                     std::uint8_t protocol) const noexcept;

 private:
  struct Network {
    std::uint32_t first, mask;
  };
  std::uint64_t inside_ = 0;  ///< a bit a port
  std::optional<std::uint8_t> hairpin_;
  std::vector<std::uint32_t> own_, pool_, masqueraded_;
  std::vector<Network> networks_;  ///< of the inside
  std::vector<NatFixed> fixed_;
};

}  // namespace millrace
