// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "services/functions/acl/acl_rule.hpp"
#include "services/functions/firewall/proxied_flows.hpp"
#include "services/functions/firewall/proxy_segment.hpp"
#include "services/functions/flow/flow_batch.hpp"
#include "services/functions/function.hpp"

/// What a rule of `synproxy` does (RFC 4987; Linux's nf_synproxy does the same). A SYN is answered
/// with a cookie and a window of 0, and leaves no trace. The ACK that brings the cookie back
/// becomes the SYN to the server, and its flow begins. The SYN+ACK of the server becomes the ACK
/// that opens the client's window; the server's own ACK is a frame of the side list. From there on
/// numbers, timestamps and windows are translated. `flow` counts as the client does.

namespace millrace {

/// Numbers of FunctionCounters, behind those of the rules: there with a rule of synproxy alone.
enum class SynproxyCounter : std::uint8_t {
  kAnswered,  ///< SYNs, with a cookie
  kOpened,    ///< valid cookies: the SYN to the server was sent
  kInvalid,   ///< ACKs without one, and what else belongs to no connection
  kNoRoom,    ///< valid cookies without room for one more connection
  kCount
};

/// Of one worker. Data thread.
class Synproxy {
 public:
  static constexpr std::uint32_t kFlowsDefault = 16'384;

  /// `flows`: of all lanes, 1..ProxiedFlows::kFlowsMax; `first_hit`: number of
  /// SynproxyCounter::kAnswered.
  Synproxy(std::uint32_t flows, std::size_t first_hit);

  static LaneNeeds needs_of(std::uint32_t flows, const LaneRequest& request);

  enum class Fate : std::uint8_t {
    kGoesOn,
    kOpens,     ///< it goes on as the SYN to the server; FlowBatch::of() the packet is another
    kAnswered,  ///< it has become an answer, which leaves
    kDropped,   ///< the caller drops it
  };
  /// A packet of TCP that a rule of synproxy matches.
  Fate meet(const FinishContext& call, std::uint16_t packet, const PacketFlow& flow,
            const AclRule& rule) noexcept;

  // Of a packet of a flow with FlowOwn::renumbered:

  /// The server has not answered so far.
  bool is_opening(const FinishContext& call, const PacketFlow& flow) const noexcept;
  /// The client's, with is_opening(): asks the server once more, where it shows the cookie again.
  Fate ask_again(const FinishContext& call, std::uint16_t packet, const PacketFlow& flow) noexcept;
  /// Rules let it pass: it becomes what the other side can understand.
  Fate translate(const FinishContext& call, std::uint16_t packet, const PacketFlow& flow) noexcept;

  /// See Function. `state`: of the firewall, in the flow's lane; `tuple`: of direction 0.
  static void renumber(const LaneState& state, const FlowTuple& tuple,
                       TcpSegment& segment) noexcept;
  static void revert(const LaneState& state, const FlowTuple& tuple, std::uint8_t direction,
                     std::span<std::byte> frame) noexcept;
  /// The flow has ended.
  static void give_back(const LaneState& state, const FlowTuple& tuple) noexcept;

 private:
  struct Segment;

  std::optional<ProxiedFlows> flows_of(const FinishContext& call) const noexcept;
  void hit(const FinishContext& call, SynproxyCounter counter) const noexcept {
    call.counters.hit(first_hit_ + static_cast<std::size_t>(counter));
  }
  Fate answer(const Segment& syn, const ProxiedFlows& flows, const AclRule& rule) noexcept;
  static Fate meet_server(const FinishContext& call, std::uint16_t packet, const PacketFlow& flow,
                          const ProxiedFlow& known) noexcept;
  Fate begin(const Segment& ack, const ProxiedFlows& flows, const AclRule& rule) noexcept;

  std::uint32_t flows_;
  std::size_t first_hit_;
  ProxiedFlows::Secret secret_;
};

}  // namespace millrace
