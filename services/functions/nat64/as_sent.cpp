// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/nat64/as_sent.hpp"

#include <algorithm>

#include "services/functions/flow/flow_batch.hpp"
#include "services/functions/nat/revert_translation.hpp"
#include "services/functions/nat64/revert_version.hpp"

namespace millrace {

namespace {

constexpr std::size_t kTransportBytesMax = 60;  // of TCP

}  // namespace

/// One of no flow, or of one that has nothing to translate, is as it has come.
bool may_be_translated(const FinishContext& call, std::uint16_t packet) noexcept {
  if (call.flows == nullptr) return false;
  if (call.flows->has_lost_translation(packet)) return true;
  const PacketFlow at = call.flows->of(packet);
  if (at.flow == kNoFlow || at.state == FlowState::kRelated) return false;
  return call.flows->is_renumbered(packet) ||
         call.flows->tuple(at.flow, 0) != reversed(call.flows->tuple(at.flow, 1));
}

AsSent::AsSent(const FinishContext& call, std::uint16_t packet) noexcept
    : call_(call), packet_(packet) {
  known_ = call.flows == nullptr || !call.flows->has_lost_translation(packet);
  if (!known_ || !may_be_translated(call, packet)) return;
  const PacketHeaders headers = parse_headers(call.batch.bytes(packet));
  known_ = headers.transport_offset + kTransportBytesMax <= kHeadBytesMax;
  if (!known_) return;
  save();
  known_ = revert_version(call, packet) != Reverted::kFailed;
  known_ = known_ && revert_translation(call, packet);
  if (!known_) restore();
}

AsSent::~AsSent() { restore(); }

void AsSent::save() noexcept {
  const Batch& batch = call_.batch;
  const auto bytes = batch.bytes(packet_);
  was_renumbered_ = call_.flows->is_renumbered(packet_);
  offset_ = batch.offset[packet_];
  length_ = batch.length[packet_];
  saved_ = std::min(bytes.size(), kHeadBytesMax);
  std::ranges::copy(bytes.first(saved_), head_.begin());
}

void AsSent::restore() noexcept {
  if (saved_ == 0) return;
  const Batch& batch = call_.batch;
  const std::int32_t front = std::int32_t{batch.offset[packet_]} - std::int32_t{offset_};
  if (front != 0) batch.grow_front(packet_, front);
  const std::int32_t back = std::int32_t{length_} - std::int32_t{batch.length[packet_]};
  if (back != 0) batch.grow_back(packet_, back);
  std::copy_n(head_.begin(), saved_, batch.bytes(packet_).begin());
  if (was_renumbered_) call_.flows->note_renumbered(packet_);
  saved_ = 0;
}

}  // namespace millrace
