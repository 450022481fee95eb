// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/nat/revert_translation.hpp"

#include "services/functions/flow/flow_batch.hpp"
#include "services/functions/nat/packet_rewrite.hpp"

namespace millrace {

bool revert_translation(const FinishContext& call, std::uint16_t packet) noexcept {
  if (call.flows == nullptr) return true;
  const PacketFlow at = call.flows->of(packet);
  if (at.flow == kNoFlow) return !call.flows->has_lost_translation(packet);
  if (at.state == FlowState::kRelated) return true;
  call.flows->revert_numbers(packet, call.batch.bytes(packet));
  const FlowTuple& came = call.flows->tuple(at.flow, at.direction);
  const FlowTuple has =
      reversed(call.flows->tuple(at.flow, static_cast<std::uint8_t>(1 - at.direction)));
  if (came == has) return true;
  const std::span<std::byte> frame = call.batch.bytes(packet);
  rewrite_packet(frame, parse_headers(frame), has, came);
  return true;
}

}  // namespace millrace
