// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/stream/overlap_policy.hpp"

#include <algorithm>
#include <array>

namespace millrace {
namespace {

struct System {
  std::string_view name;
  OverlapPolicy policy;
};
// Fragments are put together in other ways by `bsd-right`, segments are not.
constexpr std::array kSystems = {System{"bsd", OverlapPolicy::kBsd},
                                 System{"bsd-right", OverlapPolicy::kBsd},
                                 System{"first", OverlapPolicy::kFirst},
                                 System{"hpux10", OverlapPolicy::kBsd},
                                 System{"hpux11", OverlapPolicy::kSolaris},
                                 System{"irix", OverlapPolicy::kBsd},
                                 System{"last", OverlapPolicy::kLast},
                                 System{"linux", OverlapPolicy::kLinux},
                                 System{"macos", OverlapPolicy::kBsd},
                                 System{"old-linux", OverlapPolicy::kOldLinux},
                                 System{"old-solaris", OverlapPolicy::kSolaris},
                                 System{"solaris", OverlapPolicy::kSolaris},
                                 System{"vista", OverlapPolicy::kFirst},
                                 System{"windows", OverlapPolicy::kBsd},
                                 System{"windows2k3", OverlapPolicy::kBsd}};

constexpr auto kSystemNames = [] {
  std::array<std::string_view, kSystems.size()> names{};
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kSystems[i].name;
  return names;
}();

}  // namespace

bool counts_instead(OverlapPolicy policy, const SegmentExtent& waits,
                    const SegmentExtent& comes) noexcept {
  const std::int32_t earlier = sequence_distance(comes.begin, waits.begin);
  const std::int32_t later = sequence_distance(waits.end, comes.end);
  switch (policy) {
    case OverlapPolicy::kNone:
    case OverlapPolicy::kFirst:
      return false;
    case OverlapPolicy::kLast:
      return true;
    case OverlapPolicy::kBsd:
      return earlier > 0;
    case OverlapPolicy::kLinux:
      return earlier > 0 || (earlier == 0 && later > 0);
    case OverlapPolicy::kOldLinux:
      return earlier > 0 || (earlier == 0 && later >= 0);
    case OverlapPolicy::kSolaris:
      return later > 0 || (earlier >= 0 && later == 0);
  }
  return false;
}

std::span<const std::string_view> overlap_policy_names() { return kSystemNames; }

std::optional<OverlapPolicy> overlap_policy(std::string_view name) {
  const auto* const found = std::ranges::find(kSystems, name, &System::name);
  if (found == kSystems.end()) return std::nullopt;
  return found->policy;
}

}  // namespace millrace
