// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/nat64/revert_version.hpp"

#include "services/functions/flow/flow_batch.hpp"
#include "services/functions/nat64/put_front.hpp"
#include "services/functions/nat64/version_change.hpp"

namespace millrace {

bool has_other_version(const FinishContext& call, std::uint16_t packet) noexcept {
  if (call.flows == nullptr) return false;
  const PacketFlow at = call.flows->of(packet);
  if (at.flow == kNoFlow) return false;
  const std::uint8_t came = call.flows->tuple(at.flow, at.direction).version;
  const std::uint8_t other =
      call.flows->tuple(at.flow, static_cast<std::uint8_t>(1 - at.direction)).version;
  return came != other && parse_headers(call.batch.bytes(packet)).ip_version == other;
}

Reverted revert_version(const FinishContext& call, std::uint16_t packet) noexcept {
  if (!has_other_version(call, packet)) return Reverted::kNothing;
  const PacketFlow at = call.flows->of(packet);
  if (at.state == FlowState::kRelated) return Reverted::kFailed;  // no error about an error
  const FlowTuple& came = call.flows->tuple(at.flow, at.direction);
  const FlowTuple has =
      reversed(call.flows->tuple(at.flow, static_cast<std::uint8_t>(1 - at.direction)));
  const std::span<std::byte> frame = call.batch.bytes(packet);
  NewFront front;
  const Changed changed = change_version(frame, parse_headers(frame), {has, came}, front);
  if (changed != Changed::kDone || !put_front(call.batch, packet, front)) return Reverted::kFailed;
  return Reverted::kVersion;
}

}  // namespace millrace
