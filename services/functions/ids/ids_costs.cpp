// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/ids_costs.hpp"

#include <algorithm>

#include "services/functions/ids/detect/rule_effects.hpp"
#include "services/functions/ids/work_clock.hpp"
#include "shared/base/ip_protocol.hpp"

namespace millrace {

IdsCosts::IdsCosts(Detector& detector, std::span<const Signature> signatures, bool drops,
                   std::size_t counter)
    : detector_(detector),
      drops_(drops && std::ranges::any_of(signatures, blocks)),
      counter_(counter),
      budget_(work_clock::now_ns) {
  detector.use(budget_.share());
}

void IdsCosts::begin_packet(const FinishContext& call, const PacketView& packet,
                            bool is_of_batch) noexcept {
  const bool is_established =
      is_of_batch && packet.is_established && packet.headers.protocol == ip_protocol::kTcp;
  budget_.begin_packet({.source = packet.tuple.source,
                        .peer = packet.tuple.destination,
                        .is_established = is_established,
                        .now_ns = call.facts.now_ns});
}

/// A rule that only alerts takes nothing from a verdict. One that changes flowbits may: rules that
/// drop ask for them. Any rule may be one of a body.
IdsCosts::Verdict IdsCosts::end_packet(const FinishContext& call) noexcept {
  const GivenUp given_up = detector_.take_given_up();
  const WorkShare& share = budget_.share();
  const bool is_unread = share.has_lost_body() || share.has_lost_parser();
  const std::uint32_t count = given_up.looks + (is_unread ? 1 : 0);
  if (count == 0) return {};
  call.counters.hit(counter_, count);
  if (!drops_ || (given_up.first == GivenUp::kNone && !is_unread)) return {};
  const bool is_for_good = share.is_own_fault() || share.has_lost_parser();
  return {is_for_good ? Fate::kConnection : Fate::kPacket, is_unread ? 0 : given_up.first,
          share.has_lost_parser()};
}

}  // namespace millrace
