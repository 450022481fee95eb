// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "orchestration/cli/neighbour_list.hpp"
#include "services/functions/route/route_image.hpp"
#include "shared/config/plan.hpp"

/// The table of a function `route` as its workers have it, for people and as data.

namespace millrace {

/// Borrows plan and image.
struct RouteLook {
  const Plan& plan;
  std::string function;  ///< its name
  RouteTable table;
  std::vector<std::uint64_t> hits;  ///< by next hop: packets that ended there in the look-up
  NeighbourList neighbours;
  // Of the newest build: lines that were taken, that were refused, and how many builds there were.
  std::uint64_t accepted = 0, refused = 0, generation = 0;
  std::vector<std::string> files;  ///< that it was made of
  bool of_kernel = false;          ///< and of the kernel's routes
  bool live = false;               ///< which are followed in place
  std::string image;               ///< path
  std::uint64_t image_bytes = 0;   ///< of the file
  std::uint64_t stored_bytes = 0;  ///< of them in memory; the rest was never set
  std::string built;               ///< when, as logs have it
};

/// Number of the one function of type `route`, or of that named `name`. Throws Error when there is
/// none, when there are several and none is named, or when `name` is another one.
std::uint32_t route_function(const Plan& plan, const std::string& name);

/// What the table is made of, and its next hops with what they have taken.
std::string routes_text(const RouteLook& look);
nlohmann::ordered_json routes_json(const RouteLook& look);

/// What becomes of a packet to `address`. Throws Error when that is no IPv4 or IPv6 address.
std::string route_to_text(const RouteLook& look, const std::string& address);
nlohmann::ordered_json route_to_json(const RouteLook& look, const std::string& address);

}  // namespace millrace
