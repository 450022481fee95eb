// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "services/functions/acl/acl_reject.hpp"
#include "services/functions/function.hpp"
#include "services/functions/ids/detect/detector.hpp"
#include "services/functions/ids/flow_records.hpp"
#include "services/functions/ids/ids_alerts.hpp"
#include "services/functions/ids/packet_memory.hpp"
#include "services/functions/ids/rules/rule_set.hpp"

namespace millrace {

/// What the rules that a packet matches do to it. As Suricata: they count in the order of their
/// actions; the first one that passes ends it; thresholds and suppressions decide what is told.
struct IdsVerdict {
  bool tells_sender = false;           ///< it drops, and its sender has been told
  bool resets = false;                 ///< it drops, and its receiver is to be told
  bool drops = false;                  ///< the packet
  FlowFate of_flow = FlowFate::kNone;  ///< from now on
  std::optional<std::uint32_t> rule;   ///< the first signature that drops
  std::optional<std::uint32_t> pass;   ///< the one that passes: those behind it do not count
};

struct IdsVerdictOptions {
  bool drops = true;  ///< rules that drop or reject do so; else they are told of alone
  bool tells = false;
  std::uint32_t alerts_max = 0;  ///< of a packet; more do what they do, and are not told; 0: all
  AlertBytes bytes{};            ///< that alerts have of their packets
};

/// One a worker. One thread.
class IdsVerdicts {
 public:
  IdsVerdicts(std::span<const Signature> signatures, std::vector<RuleSuppression> suppressions,
              IdsVerdictOptions options);

  /// Counts, tells, rejects. Does not drop: that is the caller's. `matched` is put in order.
  IdsVerdict apply(const FinishContext& call, const AlertedPacket& packet, const FlowTuple& tuple,
                   PacketMemory& memory, std::vector<MatchedRule>& matched) noexcept;
  /// What apply() would say: one of them drops, and none passes.
  bool drops(std::span<const MatchedRule> matched) const noexcept;

 private:
  bool is_suppressed(std::uint32_t signature, const FlowTuple& tuple) const noexcept;
  /// `turned`: as of is_turned().
  void reject(const FinishContext& call, const AlertedPacket& packet, RejectTo to, bool turned,
              IdsVerdict& verdict) noexcept;
  void tell(const FinishContext& call, const AlertedPacket& packet, const MatchedRule& rule,
            bool blocked) const noexcept;

  std::span<const Signature> signatures_;
  std::vector<RuleSuppression> suppressions_;
  /// By signature: those of `suppressions_` that are about it, [first, second) of `places_`.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> suppressed_;
  std::vector<std::uint32_t> places_;
  IdsVerdictOptions options_;
  AclRejecter rejecter_;
};

}  // namespace millrace
