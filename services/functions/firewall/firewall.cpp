// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/firewall/firewall.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "services/functions/acl/acl.hpp"
#include "services/functions/acl/acl_image.hpp"
#include "services/functions/acl/acl_key.hpp"
#include "services/functions/acl/acl_reject.hpp"
#include "services/functions/firewall/firewall_limits.hpp"
#include "services/functions/firewall/firewall_settings.hpp"
#include "services/functions/flow/flow_batch.hpp"
#include "services/functions/rule_files.hpp"
#include "services/functions/setting_values.hpp"
#include "shared/base/error.hpp"

namespace millrace {
namespace {

class Firewall final : public Function {
 public:
  explicit Firewall(const FunctionContext& context)
      : image_(context.function.image),
        settings_(firewall_settings(context.function)),
        rejecter_(settings_.reject_rate),
        limits_(image_.rules(), settings_.sources, image_.rules().size() + kAclHitsWrong) {
    if (image_.bits() == nullptr) throw Error("the image has no bit vectors");
  }

  /// States of connections are known in finish alone.
  void compute(const Batch& /*batch*/, Selection selected,
               std::span<std::uint32_t> results) noexcept override {
    for (const std::uint16_t packet : selected.packets) results[packet] = kAclNoRule;
  }

  void finish(const FinishContext& call) noexcept override {
    for (const std::uint16_t packet : call.selected.packets) {
      if (!passes(call, packet)) call.batch.drop(packet, call.reason(RuleReason::kRule));
    }
  }

  void flow_ended(const StateOfFunction& own, const FlowEntry& flow) noexcept override {
    FirewallLimits::give_back(own.state, flow.tuple, flow.own.firewall);
  }
  void flow_not_kept(const StateOfFunction& own, const FlowTuple& tuple,
                     const FlowOwn& kept) noexcept override {
    FirewallLimits::give_back(own.state, tuple, kept.firewall);
  }

 private:
  bool passes(const FinishContext& call, std::uint16_t packet) noexcept {
    const std::span<const std::byte> frame = call.batch.bytes(packet);
    const std::size_t extra = image_.rules().size();
    AclKey key;
    std::uint32_t word = kAclNoRule;
    if (!acl_key_of(frame, parse_headers(frame), key, word)) {
      if (word == kAclHidden) {
        call.counters.hit(extra + kAclHitsHidden);
        return false;
      }
      call.counters.hit(extra + (word == kAclNotIp ? kAclHitsNotIp : kAclHitsDefault));
      return word == kAclNotIp ? settings_.non_ip_passes : settings_.default_passes;
    }
    const PacketFlow flow = call.flows == nullptr ? PacketFlow{} : call.flows->of(packet);
    const std::uint8_t port = call.facts.port_in;
    std::uint32_t marks = std::uint32_t{1}
                          << (kAclStateShift + static_cast<std::uint32_t>(flow.state));
    marks |= port < kPortCountMax ? std::uint32_t{1} << (kAclInputShift + port) : kAclInputBits;
    key.marks |= acl_swap(marks);
    return key.version == 4 ? decide(call, packet, flow, key, image_.bits()->ipv4)
                            : decide(call, packet, flow, key, image_.bits()->ipv6);
  }

  /// True: the packet goes on.
  template <typename Address>
  bool decide(const FinishContext& call, std::uint16_t packet, const PacketFlow& flow,
              const AclKey& key, const AclBits<Address>& bits) noexcept {
    limits_.begin_packet(call, flow);
    if (bits.rule_count != 0) {
      const AclVectors of = bits.vectors_of(key);
      for (std::uint32_t bit = bits.common_from(of, 0); bit != kAclNoBit;
           bit = bits.common_from(of, bit + 1)) {
        const std::uint32_t number = bits.rules[bit];
        const AclRule& rule = image_.rules()[number];
        if (firewall_has_limits(rule) && !limits_.match(call, flow, key, number)) continue;
        const auto action = static_cast<AclAction>(rule.action);
        if (action == AclAction::kPass && !limits_.count(call, flow)) return false;
        take(call, packet, number, action);
        if (action == AclAction::kAlert) continue;
        if (action != AclAction::kPass) return false;
        if (call.flows != nullptr && flow.flow != kNoFlow && call.flows->is_new(flow.flow)) {
          call.flows->change_own(flow.flow).firewall = let_in_by(call, flow, number);
        }
        return true;
      }
    }
    call.counters.hit(image_.rules().size() + kAclHitsDefault);
    return settings_.default_passes && limits_.count(call, flow);
  }

  /// FlowOwn::firewall with another rule.
  static std::uint32_t let_in_by(const FinishContext& call, const PacketFlow& flow,
                                 std::uint32_t number) noexcept {
    return (call.flows->own(flow.flow).firewall & ~kFirewallRuleBits) | (number + 1);
  }

  /// What a rule does beside its verdict.
  void take(const FinishContext& call, std::uint16_t packet, std::uint32_t number,
            AclAction action) noexcept {
    const AclRule& rule = image_.rules()[number];
    const bool drops = action == AclAction::kDrop || action == AclAction::kReject;
    call.counters.hit(number);
    if (action == AclAction::kAlert) call.counters.alert();
    if (action == AclAction::kReject) rejecter_.tell_sender(call, packet);
    if (rule.log != 0) {
      call.events.alert(packet, number, image_.name(number),
                        drops ? EventAction::kBlocked : EventAction::kAllowed);
    }
  }

  AclImage image_;
  FirewallSettings settings_;
  AclRejecter rejecter_;
  FirewallLimits limits_;
};

void check_firewall(const PlanFunction& function) {
  check_keys(function, known_firewall_settings());
  firewall_settings(function);
  check_firewall_files(function);
}

std::string check_firewall_for_log(const PlanFunction& function) {
  const std::string path = check_firewall_files_for(FirewallWord::kLog, function);
  return path.empty() ? "" : "log in " + path;
}

/// Before an image is made that no worker could load.
void check_groups(const FirewallRules& rules) {
  std::vector<AclRule> plain;
  for (const AclNamedRule& named : rules.rules) plain.push_back(named.rule);
  firewall_groups(plain);
}

LaneNeeds needs_of(const LaneRequest& request) {
  return FirewallLimits::needs_of(firewall_sources(request.settings), request);
}

BuildReport build_firewall(const FunctionContext& context) {
  check_firewall(context.function);
  FirewallRules rules = load_firewall_files(context.function, context.ports);
  BuildReport report;
  report.accepted = rules.rules.size();
  report.counter_count = static_cast<std::uint32_t>(rules.rules.size()) + kAclExtraCount;
  check_groups(rules);
  report_refusals(std::move(rules.refusals), report);
  const AclBitsReport bits =
      write_acl_image(context.function.image, rules.rules, report.counter_count);
  if (!bits.built) throw Error("rules: these are too many for the bit vectors: " + bits.why);
  return report;
}

std::unique_ptr<Function> make_firewall(const FunctionContext& context) {
  return std::make_unique<Firewall>(context);
}

constexpr std::array kRegions = {Region{Region::Start::kNetwork, 40},
                                 Region{Region::Start::kTransport, 14}};

}  // namespace

std::string firewall_file_that_rejects(const PlanFunction& function) {
  return check_firewall_files_for(FirewallWord::kReject, function);
}

FunctionType firewall_type() {
  return {.traits = {.type = "firewall",
                     .summary = "rules over connections, ports and addresses: pass, drop, reject",
                     .regions = kRegions,
                     .stateful = true,
                     .lane_needs = needs_of,
                     .flows = FlowUse::kNeeds,
                     .has_image = true,
                     .reasons = kRuleReasons,
                     .drops_for_first = true,
                     .settings = known_firewall_settings()},
          .make = make_firewall,
          .build = build_firewall,
          .check = check_firewall,
          .asks_for_events = check_firewall_for_log};
}

}  // namespace millrace
