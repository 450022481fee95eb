// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/nat64/revert_version.hpp"

#include <optional>

#include "services/functions/flow/flow_batch.hpp"
#include "services/functions/nat64/put_front.hpp"
#include "services/functions/nat64/version_change.hpp"

namespace millrace {

namespace {

/// A packet that has another version than it has come with.
struct Translated {
  PacketHeaders headers;
  FlowState state;
  VersionChange back;
};

std::optional<Translated> translated(const FinishContext& call, std::uint16_t packet) noexcept {
  if (call.flows == nullptr) return std::nullopt;
  const PacketFlow at = call.flows->of(packet);
  if (at.flow == kNoFlow) return std::nullopt;
  const FlowTuple& came = call.flows->tuple(at.flow, at.direction);
  const FlowTuple& answer = call.flows->tuple(at.flow, static_cast<std::uint8_t>(1 - at.direction));
  if (came.version == answer.version) return std::nullopt;
  const PacketHeaders headers = parse_headers(call.batch.bytes(packet));
  if (headers.ip_version != answer.version) return std::nullopt;
  return Translated{headers, at.state, {.has = reversed(answer), .gets = came}};
}

}  // namespace

bool has_other_version(const FinishContext& call, std::uint16_t packet) noexcept {
  return translated(call, packet).has_value();
}

Reverted revert_version(const FinishContext& call, std::uint16_t packet) noexcept {
  const std::optional<Translated> at = translated(call, packet);
  if (!at) return Reverted::kNothing;
  if (at->state == FlowState::kRelated) return Reverted::kFailed;  // no error about an error
  NewFront front;
  const Changed changed = change_version(call.batch.bytes(packet), at->headers, at->back, front);
  if (changed != Changed::kDone || !put_front(call.batch, packet, front)) return Reverted::kFailed;
  return Reverted::kVersion;
}

}  // namespace millrace
