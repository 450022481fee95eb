// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "services/functions/function.hpp"
#include "services/functions/match/image.hpp"

namespace millrace {

/// Counters behind those of the rules.
enum MatchExtra : std::uint8_t {
  kMatchHitsWrong = 0,  ///< result words that name no rule, from a device gone wrong
  kMatchHitsHidden = 1,
  kMatchExtraCount
};

/// What the rules of an image do to packets for which a scan has found one. One worker's thread.
class MatchVerdicts {
 public:
  /// `image` is borrowed. `tells`: of each packet that a rule counts.
  MatchVerdicts(const MatchImage& image, bool tells) : image_(image), tells_(tells) {}

  /// `word`: MatchScanner::strongest_rule() of the packet.
  void apply(const FinishContext& call, std::uint16_t packet, std::uint32_t word) const noexcept;
  /// A rule drops.
  bool may_drop() const noexcept;

 private:
  const MatchImage& image_;
  bool tells_;
};

/// The setting `events` of the function. Throws Error if it is no flag.
bool match_tells(const PlanFunction& function);
/// For FunctionType::asks_for_events. Throws Error likewise.
std::string match_asks_for_events(const PlanFunction& function);

/// Reads the rule files of the function and writes its image. Throws Error.
BuildReport build_match_image(const FunctionContext& context, MatchPlaces places,
                              std::uint32_t extra_counters);

}  // namespace millrace
