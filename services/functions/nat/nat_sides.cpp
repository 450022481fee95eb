// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/nat/nat_sides.hpp"

#include <algorithm>
#include <string>

#include "services/functions/route/route_text.hpp"
#include "shared/base/error.hpp"

namespace millrace {

NatSides::NatSides(const NatSettings& settings, std::span<const PlanPort> ports)
    : pool_(settings.pool), fixed_(settings.fixed) {
  for (std::size_t number = 0; number < ports.size() && number < 64; ++number) {
    const bool inside =
        std::ranges::find(settings.inside, ports[number].name) != settings.inside.end();
    if (inside) inside_ |= std::uint64_t{1} << number;
    if (ports[number].name == settings.hairpin) hairpin_ = static_cast<std::uint8_t>(number);
    for (const std::string& text : ports[number].addresses) {
      if (text.find(':') != text.npos) continue;  // IPv6
      const std::size_t slash = text.find('/');
      std::uint32_t address = 0;
      if (slash == text.npos || !parse_ipv4(text.substr(0, slash), address)) {
        throw Error("port " + ports[number].name + ": '" + text + "' is no address with a length");
      }
      const auto length = static_cast<std::uint32_t>(std::stoul(text.substr(slash + 1)));
      const std::uint32_t mask = length == 0 ? 0 : ~0u << (32 - std::min(length, 32u));
      own_.push_back(address);
      if (in_pool(address)) masqueraded_.push_back(address);
      if (inside) networks_.push_back({address & mask, mask});
    }
  }
}

bool NatSides::is_own(std::uint32_t address) const noexcept {
  return address >> 28 >= 14 || std::ranges::find(own_, address) != own_.end();
}

bool NatSides::stays_inside(std::uint32_t address) const noexcept {
  return is_own(address) || std::ranges::any_of(networks_, [&](const Network& network) {
           return (address & network.mask) == network.first;
         });
}

bool NatSides::in_pool(std::uint32_t address) const noexcept {
  return std::ranges::binary_search(pool_, address);
}

bool NatSides::is_outside(std::uint32_t address) const noexcept {
  return in_pool(address) || std::ranges::any_of(fixed_, [&](const NatFixed& fixed) {
           return address - fixed.outside < fixed.count;
         });
}

std::optional<std::uint32_t> NatSides::fixed_outside(std::uint32_t inside) const noexcept {
  for (const NatFixed& fixed : fixed_) {
    if (fixed.protocol != 0 || inside - fixed.inside >= fixed.count) continue;
    return fixed.outside + (inside - fixed.inside);
  }
  return std::nullopt;
}

std::optional<NatSides::Inside> NatSides::fixed_inside(std::uint32_t outside, std::uint16_t port,
                                                       std::uint8_t protocol) const noexcept {
  for (const NatFixed& fixed : fixed_) {
    if (outside - fixed.outside >= fixed.count) continue;
    if (fixed.protocol == 0) return Inside{fixed.inside + (outside - fixed.outside), port};
    if (fixed.protocol == protocol && fixed.outside_port == port) {
      return Inside{fixed.inside, fixed.inside_port};
    }
  }
  return std::nullopt;
}

}  // namespace millrace
