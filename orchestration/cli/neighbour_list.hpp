// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "orchestration/cli/snapshot.hpp"
#include "shared/config/plan.hpp"
#include "shared/layout/neighbour_look.hpp"

/// The table of neighbours of a running topology, for people and as data.

namespace millrace {

struct NeighbourList {
  std::vector<NeighbourSnapshot> entries;  ///< by port, family, address
  std::uint64_t now_ms = 0;                ///< when it was looked at, by the table's clock
  std::uint32_t capacity = 0;              ///< entries that fit into the table
  std::uint64_t evicted = 0;               ///< gave way to others since the start
  std::uint64_t full = 0;                  ///< found no place since the start
};

/// `port`: of the plan; nothing: all ports.
NeighbourList list_neighbours(const NeighbourTableView& table, std::uint64_t now_ms,
                              std::optional<std::uint32_t> port = std::nullopt);

/// By the table's clock.
std::uint64_t neighbour_now_ms(const Observed& observed);

/// "reachable".
std::string_view neighbour_state_name(const NeighbourSnapshot& entry, std::uint64_t now_ms);
/// Its `mac` means something.
bool has_mac(const NeighbourSnapshot& entry);

/// The key of `text` at that port; nothing when it is neither an IPv4 nor an IPv6 address.
std::optional<NeighbourKey> key_of_address(const std::string& text, std::uint32_t port);

/// "10.1.0.2", "fe80::1".
std::string address_text(const NeighbourKey& key);

std::string neighbours_text(const Plan& plan, const NeighbourList& list, bool colour);
nlohmann::ordered_json neighbours_json(const Plan& plan, const NeighbourList& list);

}  // namespace millrace
