// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "services/functions/route/route_image.hpp"
#include "services/functions/route/route_text.hpp"
#include "shared/config/plan.hpp"

namespace millrace {

/// Puts the next hops that lines name into numbers: equal ones get one number, and a number never
/// means another next hop. Builder and follower; one thread.
class HopNumbers {
 public:
  /// The fixed ones of route_image.hpp, and none else. Without ports (`millrace try`) any name is a
  /// port. `answers`: next hops may be named by address. Throws Error for too many ports, or a name
  /// that is too long.
  HopNumbers(std::span<const PlanPort> ports, bool answers);
  /// Those of a table, which is to have more.
  HopNumbers(std::span<const PlanPort> ports, bool answers, std::span<const RouteHop> hops,
             std::span<const RouteMember> members);

  static constexpr std::uint32_t kNone = UINT32_MAX;
  /// Of the line's next hop, or of the group of several; `number` receives it. Returns nothing, or
  /// why there is none; then none of the line's next hops is kept.
  std::string find(const RouteLine& line, std::uint32_t& number);
  /// Of that one, which is no group. kNone: there are kHopCountMax already.
  std::uint32_t number_of(const RouteHop& hop);

  std::span<const RouteHop> hops() const { return hops_; }
  std::span<const RouteMember> members() const { return members_; }
  std::span<const std::string> ports() const { return ports_; }

 private:
  std::string add_wanted(const RouteLineHop& given, std::uint16_t mtu);
  std::uint32_t number_of(const RouteHop& hop, const std::string& key);
  std::uint32_t group_of(std::span<const RouteLineHop> weights);

  bool any_port_, answers_;
  std::vector<std::string> ports_;
  std::vector<RouteHop> hops_;
  std::vector<RouteMember> members_;
  std::vector<RouteHop> wanted_;                            ///< of the line in hand
  std::unordered_map<std::string, std::uint32_t> numbers_;  ///< what tells a next hop -> its number
};

}  // namespace millrace
