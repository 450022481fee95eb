// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>

#include "services/functions/ids/rules/rule_keyword.hpp"
#include "services/functions/ids/rules/rule_values.hpp"
#include "shared/base/fnv.hpp"
#include "shared/base/quoted.hpp"

/// xbits: bits of hosts and of pairs of hosts.

namespace millrace {
namespace {

struct TrackWord {
  std::string_view name;
  TrackBy by;
};
constexpr TrackWord kTracks[] = {
    {"ip_src", TrackBy::kSource}, {"ip_dst", TrackBy::kDestination}, {"ip_pair", TrackBy::kBoth}};

std::uint64_t hash_of(std::string_view name) noexcept {
  std::uint64_t hash = kFnvBasis;
  for (const char byte : name) hash = fnv1a_add(hash, static_cast<std::uint8_t>(byte));
  return hash;
}

TrackBy track_of(std::string_view name) {
  const auto* const found = std::ranges::find(kTracks, name, &TrackWord::name);
  if (found == std::end(kTracks)) refuse_rule(quoted_word(name) + " is not known");
  return found->by;
}

/// A lane has its own bits: what is set has to be asked for in the same one.
void check_track(TrackBy by, KeptBits kept) {
  if (kept == KeptBits::kOfHosts || (kept == KeptBits::kOfPairs && by == TrackBy::kBoth)) return;
  refuse_rule(by == TrackBy::kBoth
                  ? "bits of pairs of hosts are kept where one path has their packets in one lane"
                  : "bits of hosts are kept in a topology with one path of one lane");
}

/// "set,NAME,track ip_src,expire 30".
void add_host_bit(const RuleOption& option, RuleDraft& draft) {
  const auto parts = split_list(unquoted(option.value), ',');
  if (parts[0] == "noalert" && parts.size() == 1) {
    draft.signature.no_alert = true;
    return;
  }
  constexpr std::size_t kPartsMin = 3, kPartsMax = 4;
  if (parts.size() < kPartsMin || parts.size() > kPartsMax) {
    refuse_rule("it has a command, a name, what is tracked, and a time");
  }
  HostBit bit{.name = hash_of(parts[1])};
  const FlowbitTest::What what = bit_command(parts[0]);
  const NamedValue track = split_named(parts[2]);
  if (track.name != "track") refuse_rule(quoted_word(parts[2]) + " is not what is tracked");
  bit.by = track_of(track.value);
  if (parts.size() == kPartsMax) {
    const NamedValue expire = split_named(parts[3]);
    if (expire.name != "expire") refuse_rule(quoted_word(parts[3]) + " is no time");
    bit.seconds = static_cast<std::uint32_t>(
        number_of(expire.value, 1, std::numeric_limits<std::uint32_t>::max()));
  }
  check_track(bit.by, draft.setup.kept_bits);
  const std::uint16_t number = flowbit_number(parts[1], "xbits:", draft);
  draft.signature.flowbits.push_back({.what = what, .bits = {number}, .host = bit});
}

constexpr std::array kKeywords = {
    RuleKeyword{"xbits", KeywordValue::kNeeded, add_host_bit},
};

}  // namespace

RuleKeywords host_bit_keywords() noexcept { return kKeywords; }

}  // namespace millrace
