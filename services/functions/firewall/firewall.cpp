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
#include "services/functions/firewall/link_traffic.hpp"
#include "services/functions/firewall/synproxy.hpp"
#include "services/functions/firewall/usual_key.hpp"
#include "services/functions/flow/flow_batch.hpp"
#include "services/functions/function_rows.hpp"
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
        limits_(image_.rules(), settings_.sources, image_.rules().size() + kAclHitsWrong),
        synproxy_(settings_.proxied, image_.rules().size() + kAclExtraCount) {
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
    if (flow.own.renumbered != 0) Synproxy::give_back(own.state, flow.tuple);
  }
  void flow_not_kept(const StateOfFunction& own, const FlowTuple& tuple,
                     const FlowOwn& kept) noexcept override {
    FirewallLimits::give_back(own.state, tuple, kept.firewall);
    if (kept.renumbered != 0) Synproxy::give_back(own.state, tuple);
  }
  void renumber(const StateOfFunction& own, const FlowTuple& tuple,
                TcpSegment& segment) noexcept override {
    Synproxy::renumber(own.state, tuple, segment);
  }
  void revert_numbers(const StateOfFunction& own, const FlowTuple& tuple, std::uint8_t direction,
                      std::span<std::byte> frame) noexcept override {
    Synproxy::revert(own.state, tuple, direction, frame);
  }

 private:
  bool passes(const FinishContext& call, std::uint16_t packet) noexcept {
    AclKey key;
    bool of_the_link = false;
    if (call.flows != nullptr && call.flows->is_usual(packet)) [[likely]] {
      const std::byte* const frame = call.batch.data(packet);
      set_usual_key(frame, key);
      of_the_link = ipv4_is_of_the_link(usual_packet::u32(frame + usual_packet::kDestinationAt));
    } else {
      const std::span<const std::byte> frame = call.batch.bytes(packet);
      const PacketHeaders headers = parse_headers(frame);
      std::uint32_t word = kAclNoRule;
      if (!acl_key_of(frame, headers, key, word)) return passes_without_key(call, word);
      of_the_link = settings_.of_kernel && is_of_the_link(frame, headers);
    }
    if (of_the_link && settings_.of_kernel) [[unlikely]] {
      call.counters.hit(image_.rules().size() + kAclHitsDefault);
      return true;
    }
    const PacketFlow flow = call.flows == nullptr ? PacketFlow{} : call.flows->of(packet);
    const bool is_proxied = flow.flow != kNoFlow && call.flows->own(flow.flow).renumbered != 0;
    if (is_proxied && flow.direction == 0 && synproxy_.is_opening(call, flow)) {
      return renumbered(call, packet, synproxy_.ask_again(call, packet, flow));
    }
    const std::uint8_t port = call.facts.port_in;
    std::uint32_t marks = std::uint32_t{1}
                          << (kAclStateShift + static_cast<std::uint32_t>(flow.state));
    marks |= port < kPortCountMax ? std::uint32_t{1} << (kAclInputShift + port) : kAclInputBits;
    key.marks |= acl_swap(marks);
    const bool passes = key.version == 4 ? decide(call, packet, flow, key, image_.bits()->ipv4)
                                         : decide(call, packet, flow, key, image_.bits()->ipv6);
    if (!passes || !is_proxied) return passes;
    return renumbered(call, packet, synproxy_.translate(call, packet, flow));
  }

  /// Of a frame of which there is nothing to compare; `word` says why.
  bool passes_without_key(const FinishContext& call, std::uint32_t word) const noexcept {
    const std::size_t extra = image_.rules().size();
    if (word == kAclHidden) {
      call.counters.hit(extra + kAclHitsHidden);
      return false;
    }
    call.counters.hit(extra + (word == kAclNotIp ? kAclHitsNotIp : kAclHitsDefault));
    return word == kAclNotIp ? settings_.non_ip_passes : settings_.default_passes;
  }

  /// True: the packet goes on, with other numbers than it has come with.
  static bool renumbered(const FinishContext& call, std::uint16_t packet,
                         Synproxy::Fate fate) noexcept {
    if (fate == Synproxy::Fate::kDropped) return false;
    call.flows->note_renumbered(packet);
    return true;
  }

  /// Most packets have the same conditions as the one in front.
  template <typename Address>
  std::uint32_t condition_of(const AclBits<Address>& bits, const AclKey& key) noexcept {
    const bool is_same = last_.conditions == bits.conditions && last_.marks == key.marks &&
                         last_.vlan == key.vlan && last_.icmp == key.icmp;
    if (!is_same) {
      last_ = {bits.conditions, key.marks, key.vlan, key.icmp, bits.condition_of(key)};
    }
    return last_.condition;
  }

  /// True: the packet goes on.
  template <typename Address>
  bool decide(const FinishContext& call, std::uint16_t packet, const PacketFlow& flow,
              const AclKey& key, const AclBits<Address>& bits) noexcept {
    limits_.begin_packet(call, flow);
    if (bits.rule_count != 0) {
      const AclVectors of = bits.vectors_of(key, condition_of(bits, key));
      for (std::uint32_t bit = bits.common_from(of, 0); bit != kAclNoBit;
           bit = bits.common_from(of, bit + 1)) {
        const std::uint32_t number = bits.rules[bit];
        const AclRule& rule = image_.rules()[number];
        if (firewall_has_limits(rule) && !limits_.match(call, flow, key, number)) continue;
        const auto action = static_cast<AclAction>(rule.action);
        if (action == AclAction::kSynproxy) return prove(call, packet, flow, number);
        if (action == AclAction::kPass && !limits_.count(call, flow)) return false;
        take(call, packet, number, action);
        if (action == AclAction::kAlert) continue;
        if (action != AclAction::kPass) return false;
        let_in(call, flow, number);
        return true;
      }
    }
    call.counters.hit(image_.rules().size() + kAclHitsDefault);
    return settings_.default_passes && limits_.count(call, flow);
  }

  /// As decide(), by a rule of synproxy.
  bool prove(const FinishContext& call, std::uint16_t packet, const PacketFlow& flow,
             std::uint32_t number) noexcept {
    const AclRule& rule = image_.rules()[number];
    const Synproxy::Fate fate = synproxy_.meet(call, packet, flow, rule);
    const bool goes_on = fate == Synproxy::Fate::kGoesOn || fate == Synproxy::Fate::kOpens;
    call.counters.hit(number);
    if (rule.log != 0) {
      call.events.alert(packet, number, image_.name(number),
                        goes_on ? EventAction::kAllowed : EventAction::kBlocked);
    }
    if (!goes_on) return fate == Synproxy::Fate::kAnswered;
    const PacketFlow now = call.flows->of(packet);
    if (!limits_.count(call, now)) return false;
    let_in(call, now, number);
    if (fate == Synproxy::Fate::kOpens) call.flows->note_renumbered(packet);
    return true;
  }

  /// A flow that begins keeps the rule that it goes by.
  static void let_in(const FinishContext& call, const PacketFlow& flow,
                     std::uint32_t number) noexcept {
    if (call.flows == nullptr || flow.flow == kNoFlow || !call.flows->is_new(flow.flow)) return;
    FlowOwn& own = call.flows->change_own(flow.flow);
    own.firewall = (own.firewall & ~kFirewallRuleBits) | (number + 1);
  }

  /// What a rule does beside its verdict.
  void take(const FinishContext& call, std::uint16_t packet, std::uint32_t number,
            AclAction action) noexcept {
    const AclRule& rule = image_.rules()[number];
    const bool drops = action == AclAction::kDrop || action == AclAction::kReject;
    call.counters.hit(number);
    if (action == AclAction::kAlert) call.counters.alert();
    if (action == AclAction::kReject) rejecter_.tell_sender(call, packet, rule.reject);
    if (rule.log != 0) {
      call.events.alert(packet, number, image_.name(number),
                        drops ? EventAction::kBlocked : EventAction::kAllowed);
    }
  }

  /// Of the packet before.
  struct Condition {
    const std::uint16_t* conditions = nullptr;  ///< of which family's table
    std::uint32_t marks = 0;
    std::uint16_t vlan = 0, icmp = 0;
    std::uint32_t condition = 0;
  };

  AclImage image_;
  Condition last_;
  FirewallSettings settings_;
  AclRejecter rejecter_;
  FirewallLimits limits_;
  Synproxy synproxy_;
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
  const LaneNeeds limits = FirewallLimits::needs_of(firewall_sources(request.settings), request);
  const LaneNeeds proxied = Synproxy::needs_of(firewall_proxied(request.settings), request);
  return {.state_bytes = limits.state_bytes + proxied.state_bytes,
          .undo_lines = limits.undo_lines + proxied.undo_lines};
}

bool is_synproxy(const AclNamedRule& named) {
  return named.rule.action == static_cast<std::uint8_t>(AclAction::kSynproxy);
}

BuildReport build_firewall(const FunctionContext& context) {
  check_firewall(context.function);
  FirewallRules rules = load_firewall_files(context.function, context.ports);
  BuildReport report;
  report.accepted = rules.rules.size();
  report.counter_count = static_cast<std::uint32_t>(rules.rules.size()) + kAclExtraCount;
  if (std::ranges::any_of(rules.rules, is_synproxy)) {
    report.counter_count += static_cast<std::uint32_t>(SynproxyCounter::kCount);
  }
  check_groups(rules);
  report_refusals(std::move(rules.refusals), report);
  report_files(rules.files, report);
  const AclBitsReport bits =
      write_acl_image(context.function.image, rules.rules, report.counter_count);
  if (!bits.built) throw Error("rules: these are too many for the bit vectors: " + bits.why);
  return report;
}

}  // namespace

std::string firewall_file_that_rejects(const PlanFunction& function) {
  return check_firewall_files_for(FirewallWord::kReject, function);
}

std::string firewall_file_of_synproxy(const PlanFunction& function) {
  return check_firewall_files_for(FirewallWord::kSynproxy, function);
}

FunctionType firewall_type() {
  return {.traits = {.type = "firewall",
                     .summary = "rules over connections, ports and addresses: pass, drop, reject",
                     .regions = kReadsFlowKeys,
                     .stateful = true,
                     .lane_needs = needs_of,
                     .flows = FlowUse::kNeeds,
                     .has_image = true,
                     .reasons = kRuleReasons,
                     .drops_for_first = true,
                     .settings = known_firewall_settings()},
          .make = make_function<Firewall>,
          .build = build_firewall,
          .check = check_firewall,
          .asks_for_events = check_firewall_for_log};
}

}  // namespace millrace
