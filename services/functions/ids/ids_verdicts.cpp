// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/ids_verdicts.hpp"

#include <algorithm>
#include <tuple>

#include "services/functions/ids/detect/rule_effects.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kRejectsPerSecond = 200;

bool is_about(const RuleSuppression& suppression, const Signature& signature) noexcept {
  if (suppression.gid != 0 && suppression.gid != signature.gid) return false;
  return suppression.sid == 0 || suppression.sid == signature.sid;
}

bool suppresses(const RuleSuppression& suppression, const FlowTuple& tuple) noexcept {
  const auto has = [&](const Ipv6Bytes& address) {
    return suppression.addresses.contains(tuple.version, address);
  };
  switch (suppression.track) {
    case RuleSuppression::Track::kAny:
      return true;
    case RuleSuppression::Track::kSource:
      return has(tuple.source);
    case RuleSuppression::Track::kDestination:
      return has(tuple.destination);
    case RuleSuppression::Track::kEither:
      return has(tuple.source) || has(tuple.destination);
  }
  return false;
}

}  // namespace

IdsVerdicts::IdsVerdicts(std::span<const Signature> signatures,
                         std::vector<RuleSuppression> suppressions, IdsVerdictOptions options)
    : signatures_(signatures),
      suppressions_(std::move(suppressions)),
      options_(options),
      rejecter_(kRejectsPerSecond) {
  for (const Signature& signature : signatures) {
    const auto first = static_cast<std::uint32_t>(places_.size());
    for (std::uint32_t place = 0; place < suppressions_.size(); ++place) {
      if (is_about(suppressions_[place], signature)) places_.push_back(place);
    }
    suppressed_.emplace_back(first, static_cast<std::uint32_t>(places_.size()));
  }
}

bool IdsVerdicts::is_suppressed(std::uint32_t signature, const FlowTuple& tuple) const noexcept {
  const auto [first, last] = suppressed_[signature];
  for (std::uint32_t at = first; at < last; ++at) {
    if (suppresses(suppressions_[places_[at]], tuple)) return true;
  }
  return false;
}

bool IdsVerdicts::drops(std::span<const MatchedRule> matched) const noexcept {
  if (!options_.drops) return false;
  std::size_t first_drop = signatures_.size(), first_pass = signatures_.size();
  for (const MatchedRule& rule : matched) {
    const Signature& signature = signatures_[rule.signature];
    if (signature.action == RuleAction::kPass) {
      first_pass = std::min<std::size_t>(first_pass, rule.signature);
    } else if (blocks(signature) && !signature.threshold) {
      first_drop = std::min<std::size_t>(first_drop, rule.signature);
    }
  }
  return first_drop < first_pass;
}

void IdsVerdicts::tell(const FinishContext& call, const AlertedPacket& packet,
                       const MatchedRule& rule, bool blocked) const noexcept {
  call.counters.alert();
  if (!options_.tells) return;
  tell_alert(call, packet, rule, signatures_[rule.signature],
             blocked ? EventAction::kBlocked : EventAction::kAllowed, options_.bytes);
}

/// The packet's sender is told here; the caller, which drops the packet, tells its receiver, which
/// is the source of what has matched if that is turned.
void IdsVerdicts::reject(const FinishContext& call, const AlertedPacket& packet, RejectTo to,
                         bool turned, IdsVerdict& verdict) noexcept {
  if (packet.inner != nullptr) return;  // an answer would be about the outer packet
  const bool tells_source = to != RejectTo::kDestination;
  const bool tells_destination = to != RejectTo::kSource;
  if ((turned ? tells_destination : tells_source) && !verdict.tells_sender) {
    verdict.tells_sender = true;
    rejecter_.tell_sender(call, packet.packet);
  }
  verdict.resets |= turned ? tells_source : tells_destination;
}

IdsVerdict IdsVerdicts::apply(const FinishContext& call, const AlertedPacket& packet,
                              const FlowTuple& tuple, PacketMemory& memory,
                              std::vector<MatchedRule>& matched) noexcept {
  IdsVerdict verdict;
  std::uint32_t alerts = 0;
  std::ranges::sort(matched, {}, [](const MatchedRule& rule) {
    return std::tuple(rule.signature, rule.transaction, rule.direction);
  });
  for (const MatchedRule& rule : matched) {
    const Signature& signature = signatures_[rule.signature];
    Counted counted = Counted::kCounts;
    const bool turned = is_turned(packet, rule);
    const FlowTuple ends = turned ? reversed(tuple) : tuple;
    if (signature.threshold) {
      memory.set_tuple(ends);
      counted = memory.counted(rule.signature, kUseThreshold, *signature.threshold);
    }
    if (counted == Counted::kNotYet) continue;
    call.counters.hit(rule.signature);
    const bool blocked = options_.drops && blocks(signature);
    if (blocked) {
      if (signature.action == RuleAction::kReject) {
        reject(call, packet, signature.reject_to, turned, verdict);
      }
      verdict.drops = true;
      if (!verdict.rule) verdict.rule = rule.signature;
      if (rule.is_of_flow()) verdict.of_flow = FlowFate::kDropped;
    }
    if (signature.action == RuleAction::kPass) {
      verdict.pass = rule.signature;
      if (rule.is_of_flow() && !verdict.drops) verdict.of_flow = FlowFate::kPassed;
      break;
    }
    if (counted == Counted::kCounts && !signature.no_alert &&
        !is_suppressed(rule.signature, ends) &&
        (options_.alerts_max == 0 || alerts < options_.alerts_max)) {
      ++alerts;
      tell(call, packet, rule, blocked);
    }
  }
  return verdict;
}

}  // namespace millrace
