// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/table.hpp"

#include <array>
#include <string>

#include "services/functions/acl/acl.hpp"
#include "services/functions/firewall/firewall.hpp"
#include "services/functions/flow/flow.hpp"
#include "services/functions/ids/ids.hpp"
#include "services/functions/inspect/inspect.hpp"
#include "services/functions/match/match.hpp"
#include "services/functions/nat/nat.hpp"
#include "services/functions/nat64/nat64.hpp"
#include "services/functions/prefilter/prefilter.hpp"
#include "services/functions/record/record.hpp"
#include "services/functions/route/route.hpp"
#include "services/functions/streams/streams.hpp"
#include "services/functions/tee/tee.hpp"
#include "shared/base/error.hpp"

namespace millrace {

std::span<const FunctionType> function_types() {
  // clang-format off
  static const std::array kTypes = {
      route_type(),
      match_type(),
      acl_type(),
      flow_type(),
      firewall_type(),
      nat_type(),
      nat64_type(),
      inspect_type(),
      prefilter_type(),
      ids_type(),
      record_type(),
      streams_type(),
      tee_type(),
  };
  // clang-format on
  return kTypes;
}

const FunctionType* find_function_type(std::string_view type) {
  for (const FunctionType& row : function_types()) {
    if (row.traits.type == type) return &row;
  }
  return nullptr;
}

const FunctionType& function_type(std::string_view type) {
  if (const FunctionType* row = find_function_type(type)) return *row;
  std::string known;
  for (const FunctionType& row : function_types()) {
    known += (known.empty() ? "" : ", ") + std::string(row.traits.type);
  }
  throw Error("no function of type '" + std::string(type) + "'; there are: " + known);
}

std::vector<KnownFunction> known_functions() {
  std::vector<KnownFunction> known;
  for (const FunctionType& row : function_types()) {
    known.push_back({.type = row.traits.type,
                     .stateful = row.traits.stateful,
                     .lane_needs = row.traits.lane_needs,
                     .flows = row.traits.flows,
                     .translation = row.translation,
                     .runs_on_gpu = row.traits.runs_on_gpu,
                     .keys_suffice = row.traits.keys_suffice,
                     .has_image = row.traits.has_image,
                     .counter_count = row.traits.counter_count,
                     .rewrites = row.traits.rewrites,
                     .headroom = row.traits.headroom,
                     .tailroom = row.traits.tailroom,
                     .growth = row.traits.growth,
                     .reasons = row.traits.reasons,
                     .settings = row.traits.settings});
  }
  return known;
}

}  // namespace millrace
