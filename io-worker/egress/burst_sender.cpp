// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "io-worker/egress/burst_sender.hpp"

#include <cstring>
#include <optional>

#include "shared/base/clock.hpp"
#include "shared/base/packet_walk.hpp"
#include "shared/config/vlan.hpp"
#include "shared/links/ledger.hpp"
#include "shared/packet/wire_bytes.hpp"

namespace millrace {
namespace {

using packet_walk::kMacsBytes;

}  // namespace

BurstSender::BurstSender(const ActorContext& context, TxQueues& ports, ReturnLinks& returns,
                         SidePool& pool)
    : context_(context), ports_(ports), returns_(returns), pool_(pool) {
  for (std::uint8_t port = 0; port < kPortCountMax; ++port) tags_[port].link = port;
  for (std::size_t port = 0; port < context.plan->ports.size(); ++port) {
    const std::optional<VlanPort> vlan = vlan_port(context.plan->ports, port);
    if (!vlan) continue;
    Tags& tags = tags_[port];
    tags.link = vlan->link;
    const auto add = [&](std::uint16_t type, std::uint16_t id) {
      wire_bytes::put16(tags.content, tags.bytes, type);
      wire_bytes::put16(tags.content, tags.bytes + 2u, id);
      tags.bytes += packet_walk::kVlanTagBytes;
    };
    if (vlan->outer != 0) add(packet_walk::kTypeServiceVlan, vlan->outer);
    add(packet_walk::kTypeVlan, vlan->id);
  }
  for (std::uint8_t port = 0; port < kPortCountMax; ++port) {
    bursts_.push_back(reaches(port) ? std::make_unique<Burst>() : nullptr);
    if (!reaches(port)) continue;
    const TxQueue& queue = *ports_[tags_[port].link];
    bursts_[port]->held = queue.holds_buffers();
    if (tags_[port].link == port && queue.holds_buffers()) holding_.push_back(port);
  }
  for (const auto& queue : ports_) {
    if (queue && queue->commits() != nullptr) loops_.push_back(queue->commits());
  }
  used_.reserve(kPortCountMax);
}

void BurstSender::begin(const Batch& batch, LaneRecord& record) noexcept {
  batch_ = &batch;
  record_ = &record;
}

void BurstSender::begin(LaneRecord& record) noexcept {
  batch_ = nullptr;
  record_ = &record;
}

/// With room for one more.
BurstSender::Burst& BurstSender::burst_for(std::uint8_t port) noexcept {
  Burst& burst = *bursts_[port];
  if (burst.count == 0) used_.push_back(port);
  if (burst.count < kBatchCapacityMax) return burst;
  send(port);
  return burst;
}

/// In front of it there is room for them.
void BurstSender::push_tags(std::byte* frame, const Tags& tags) const noexcept {
  std::memmove(frame - tags.bytes, frame, kMacsBytes);
  std::memcpy(frame - tags.bytes + kMacsBytes, tags.content.data(), tags.bytes);
}

void BurstSender::add(std::uint32_t packet, std::uint8_t port) noexcept {
  const Tags& tags = tags_[port];
  if (tags.bytes != 0) [[unlikely]] {
    std::byte* const frame = batch_->data(packet);
    if (batch_->length[packet] < kMacsBytes || !batch_->grow_front(packet, tags.bytes)) {
      count_end(*record_, record_->dropped, Reason::kOversize);
      batch_->drop(packet, Reason::kOversize);
      return;
    }
    push_tags(frame, tags);
  }
  Burst& burst = burst_for(port);
  burst.index[burst.count] = static_cast<std::uint16_t>(packet);
  burst.packets[burst.count++] = {batch_->buffer[packet], batch_->bytes(packet),
                                  batch_->wire_length(packet), 0};
  burst.bytes += batch_->length[packet];
}

void BurstSender::add_side(std::uint32_t buffer, std::span<const std::byte> bytes,
                           std::uint8_t port) noexcept {
  const Tags& tags = tags_[port];
  if (tags.bytes != 0) [[unlikely]] {
    std::byte* const frame = pool_.data(buffer) + (bytes.data() - pool_.data(buffer));
    if (bytes.size() < kMacsBytes || frame - tags.bytes < pool_.data(buffer) - kBufferHeadroom) {
      count_end(*record_, record_->dropped, Reason::kOversize);
      pool_.put(buffer);
      return;
    }
    push_tags(frame, tags);
    bytes = {frame - tags.bytes, bytes.size() + tags.bytes};
  }
  Burst& burst = burst_for(port);
  burst.index[burst.count] = kOfPool;
  burst.packets[burst.count++] = {buffer, bytes, static_cast<std::uint32_t>(bytes.size()), 0};
  burst.bytes += bytes.size();
  burst.has_side = true;
}

void BurstSender::send_all() noexcept {
  for (const std::uint8_t port : used_) send(port);
  used_.clear();
}

void BurstSender::publish(std::uint32_t stream, std::uint32_t lane) noexcept {
  LaneLedger& ledger = context_.status.ledger(stream, lane);
  for (TxCommit* const loop : loops_) {
    loop->intend(stream, lane, ledger.flips.load(std::memory_order_relaxed) + 1);
  }
  millrace::publish(ledger);
  for (TxCommit* const loop : loops_) loop->commit();
}

void BurstSender::drop(Burst& burst, std::uint32_t at, Reason why) noexcept {
  count_end(*record_, record_->dropped, why);
  burst.bytes -= burst.packets[at].bytes.size();
  if (burst.index[at] == kOfPool) {
    pool_.put(burst.packets[at].buffer);
  } else {
    batch_->drop(burst.index[at], why);
  }
}

void BurstSender::send(std::uint8_t port) noexcept {
  Burst& burst = *bursts_[port];
  TxQueue& queue = *ports_[tags_[port].link];
  if (burst.held) mark_held(burst);
  std::uint32_t at = 0, refused = 0;
  for (std::uint32_t tries = 0; at < burst.count;) {
    const std::uint32_t taken = queue.send({burst.packets.data() + at, burst.count - at});
    if (context_.watched()) [[unlikely]]
      show_sent(burst, port, at, taken);  // later the queue may have given it up
    sent(burst, at, taken);
    at += taken;
    if (at == burst.count || queue.failed()) break;
    if (queue.refused()) [[unlikely]] {
      drop(burst, at++, Reason::kOversize);
      ++refused;
      continue;
    }
    if (!queue.waits_when_full() && ++tries == kTxRetriesMax) break;
    ++context_.counter(Counter::kTxRetries);
    if (burst.held) reclaim(queue);  // makes room
  }
  record_->transmitted[port] += at - refused;
  context_.counter(Counter::kPacketsOut) += at - refused;
  const Reason why = queue.failed() ? Reason::kNoOutput : Reason::kTxFull;
  for (; at < burst.count; ++at) drop(burst, at, why);
  record_->transmitted_bytes[port] += burst.bytes;
  context_.counter(Counter::kBytes) += burst.bytes;
  burst.count = 0;
  burst.bytes = 0;
  burst.has_side = false;
}

void BurstSender::show_sent(const Burst& burst, std::uint8_t port, std::uint32_t first,
                            std::uint32_t count) const noexcept {
  const std::uint64_t now = tsc_now();
  for (const TxPacket& packet : std::span(burst.packets).subspan(first, count)) {
    context_.watch->port_out(context_.me.actor, port, {packet.bytes, packet.wire_length, now});
  }
}

/// The queue has taken these.
void BurstSender::sent(const Burst& burst, std::uint32_t first, std::uint32_t count) noexcept {
  if (!burst.held && !burst.has_side) return;
  for (std::uint32_t at = first; at < first + count; ++at) {
    const std::uint16_t packet = burst.index[at];
    if (packet == kOfPool) {
      if (!burst.held) pool_.put(burst.packets[at].buffer);
    } else if (burst.held) {
      kept_[packet] = true;
      ++kept_count_;
    }
  }
}

void BurstSender::mark_held(const Burst& burst) noexcept {
  const std::uint32_t number = context_.plan->actors[context_.me.actor].index;
  for (std::uint32_t i = 0; i < burst.count; ++i) {
    hook(HookPoint::kSendMark);
    context_.segment.mark(burst.packets[i].buffer) = Mark{MarkKind::kTx, number}.word();
  }
}

std::uint32_t BurstSender::not_kept(const Batch& batch, std::span<std::uint32_t> rest) noexcept {
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < batch.count; ++i) {
    if (!kept_[i]) rest[count++] = batch.buffer[i];
    kept_[i] = false;
  }
  kept_count_ = 0;
  return count;
}

std::uint32_t BurstSender::reclaim() noexcept {
  std::uint32_t count = 0;
  for (const std::uint8_t port : holding_) count += reclaim(*ports_[port]);
  return count;
}

std::uint32_t BurstSender::reclaim(TxQueue& queue) noexcept {
  std::array<std::uint32_t, kReclaimMax> buffers;
  std::uint32_t count = 0, given_up = 0;
  do {
    given_up = queue.reclaim(buffers);
    std::uint32_t of_streams = 0;
    for (const std::uint32_t buffer : std::span(buffers).first(given_up)) {
      if (pool_.is_side(buffer)) {
        pool_.put(buffer);
      } else {
        buffers[of_streams++] = buffer;
      }
    }
    returns_.give_back_buffers({buffers.data(), of_streams});
    count += given_up;
  } while (given_up == kReclaimMax && count < kBufferCountMax);
  return count;
}

}  // namespace millrace
