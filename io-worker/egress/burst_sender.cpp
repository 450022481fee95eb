// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "io-worker/egress/burst_sender.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>

#include "shared/base/clock.hpp"
#include "shared/base/packet_walk.hpp"
#include "shared/config/vlan.hpp"
#include "shared/links/ledger.hpp"
#include "shared/packet/wire_bytes.hpp"

namespace millrace {
namespace {

using packet_walk::kMacsBytes;

/// The numbers of all packets of the longest batch.
constexpr auto kEvery = [] {
  std::array<std::uint16_t, kBatchCapacityMax> every{};
  std::iota(every.begin(), every.end(), std::uint16_t{0});
  return every;
}();

/// Whether the numbers, which ascend, have no gap; true for a batch that leaves whole.
bool side_by_side(std::span<const std::uint16_t> packets) noexcept {
  return packets.back() - packets.front() + std::size_t{1} == packets.size();
}

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
    const bool reached = ports_[tags_[port].link] != nullptr;
    bursts_.push_back(reached ? std::make_unique<Burst>() : nullptr);
    if (!reached) continue;
    const TxQueue& queue = *ports_[tags_[port].link];
    bursts_[port]->tagged = tags_[port].bytes != 0;
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

/// The port's burst, with room for one more packet.
BurstSender::Burst& BurstSender::burst_for(std::uint8_t port) noexcept {
  Burst& burst = *bursts_[port];
  if (burst.count == 0) used_.push_back(port);
  if (burst.count < kBatchCapacityMax) return burst;
  send_burst(port);
  return burst;
}

/// Inserts the tags; the buffer has room for them in front of the frame.
void BurstSender::push_tags(std::byte* frame, const Tags& tags) const noexcept {
  std::memmove(frame - tags.bytes, frame, kMacsBytes);
  std::memcpy(frame - tags.bytes + kMacsBytes, tags.content.data(), tags.bytes);
}

void BurstSender::add_carefully(std::uint32_t packet, std::uint8_t port) noexcept {
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
  burst.index[burst.count++] = static_cast<std::uint16_t>(packet);
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
  burst.side[burst.count++] = {buffer, bytes};
  burst.has_side = true;
}

void BurstSender::send_all() noexcept {
  for (const std::uint8_t port : used_) send_burst(port);
  used_.clear();
}

void BurstSender::send_whole(std::uint8_t port) noexcept {
  if (tags_[port].bytes != 0) [[unlikely]] {
    for (std::uint32_t i = 0; i < batch_->count; ++i) add(i, port);
    send_all();
    return;
  }
  send(port, {*bursts_[port], std::span(kEvery).first(batch_->count)});
}

void BurstSender::send_burst(std::uint8_t port) noexcept {
  Burst& burst = *bursts_[port];
  send(port, {burst, std::span(burst.index).first(burst.count)});
  burst.count = 0;
  burst.has_side = false;
}

void BurstSender::publish(std::uint32_t stream, std::uint32_t lane) noexcept {
  LaneLedger& ledger = context_.status.ledger(stream, lane);
  for (TxCommit* const loop : loops_) {
    loop->intend(stream, lane, ledger.flips.load(std::memory_order_relaxed) + 1);
  }
  millrace::publish(ledger);
  for (TxCommit* const loop : loops_) loop->commit();
}

TxPacket BurstSender::packet_at(const Load& load, std::size_t at) const noexcept {
  const std::uint16_t packet = load.index[at];
  if (packet == kOfPool) {
    const SidePacket& side = load.burst.side[at];
    return {side.buffer, side.bytes, static_cast<std::uint32_t>(side.bytes.size()), 0};
  }
  return {batch_->buffer[packet], batch_->bytes(packet), batch_->wire_length(packet), 0};
}

std::uint64_t BurstSender::bytes_of(const Load& load) const noexcept {
  std::uint64_t bytes = 0;
  if (!load.burst.has_side && side_by_side(load.index)) {
    // Summed in 32 bits, so that the compiler adds many lengths at a time.
    const std::span lengths = batch_->length.subspan(load.index.front(), load.index.size());
    return std::accumulate(lengths.begin(), lengths.end(), std::uint32_t{0});
  }
  for (std::size_t at = 0; at < load.index.size(); ++at) {
    const std::uint16_t packet = load.index[at];
    bytes += packet == kOfPool ? load.burst.side[at].bytes.size() : batch_->length[packet];
  }
  return bytes;
}

std::uint64_t BurstSender::drop(const Load& load, std::size_t at, Reason why) noexcept {
  count_end(*record_, record_->dropped, why);
  const std::uint16_t packet = load.index[at];
  if (packet == kOfPool) {
    pool_.put(load.burst.side[at].buffer);
    return load.burst.side[at].bytes.size();
  }
  batch_->drop(packet, why);
  return batch_->length[packet];
}

void BurstSender::send(std::uint8_t port, const Load& load) noexcept {
  TxQueue& queue = *ports_[tags_[port].link];
  if (load.burst.held) mark_held(load);
  const auto count = static_cast<std::uint32_t>(load.index.size());
  const bool reads_batch = !load.burst.has_side && queue.reads_batches();
  if (!reads_batch) {
    for (std::uint32_t i = 0; i < count; ++i) packets_[i] = packet_at(load, i);
  }
  std::uint64_t bytes = bytes_of(load);
  std::uint32_t at = 0, refused = 0;
  for (std::uint32_t tries = 0; at < count;) {
    const std::uint32_t taken = reads_batch
                                    ? queue.send_of(*batch_, load.index.subspan(at))
                                    : queue.send(std::span(packets_).subspan(at, count - at));
    if (context_.watched()) [[unlikely]]
      show_sent(load, port, at, taken);  // later the queue may have given it up
    sent(load, at, taken);
    at += taken;
    if (at == count || queue.failed()) break;
    if (queue.refused()) [[unlikely]] {
      bytes -= drop(load, at++, Reason::kOversize);
      ++refused;
      continue;
    }
    if (!queue.waits_when_full() && ++tries == kTxRetriesMax) break;
    ++context_.counter(Counter::kTxRetries);
    if (load.burst.held) reclaim(queue);  // makes room
  }
  record_->transmitted[port] += at - refused;
  context_.counter(Counter::kPacketsOut) += at - refused;
  if (at < count) [[unlikely]] {
    const Reason why = queue.failed() ? Reason::kNoOutput : Reason::kTxFull;
    for (; at < count; ++at) bytes -= drop(load, at, why);
  }
  record_->transmitted_bytes[port] += bytes;
  context_.counter(Counter::kBytes) += bytes;
}

void BurstSender::show_sent(const Load& load, std::uint8_t port, std::size_t first,
                            std::uint32_t count) const noexcept {
  const std::uint64_t now = tsc_now();
  for (std::size_t at = first; at < first + count; ++at) {
    const TxPacket packet = packet_at(load, at);
    context_.watch->port_out(context_.me.actor, port, {packet.bytes, packet.wire_length, now});
  }
}

/// Counts the packets that the queue has taken.
void BurstSender::sent(const Load& load, std::size_t first, std::uint32_t count) noexcept {
  const Burst& burst = load.burst;
  if (count == 0 || (!burst.held && !burst.has_side)) return;
  const std::span<const std::uint16_t> index = load.index.subspan(first, count);
  if (!burst.has_side && side_by_side(index)) {
    std::fill_n(kept_.begin() + index.front(), count, true);
    kept_count_ += count;
    return;
  }
  for (std::size_t i = 0; i < index.size(); ++i) {
    if (index[i] == kOfPool) {
      if (!burst.held) pool_.put(burst.side[first + i].buffer);
    } else if (burst.held) {
      kept_[index[i]] = true;
      ++kept_count_;
    }
  }
}

void BurstSender::mark_held(const Load& load) noexcept {
  const std::uint32_t number = context_.plan->actors[context_.me.actor].index;
  const std::uint32_t mark = Mark{MarkKind::kTx, number}.word();
  for (std::size_t at = 0; at < load.index.size(); ++at) {
    const std::uint16_t packet = load.index[at];
    hook(HookPoint::kSendMark);
    context_.segment.mark(packet == kOfPool ? load.burst.side[at].buffer : batch_->buffer[packet]) =
        mark;
  }
}

std::uint32_t BurstSender::not_kept(const Batch& batch, std::span<std::uint32_t> rest) noexcept {
  std::uint32_t count = 0;
  if (kept_count_ != batch.count) {
    for (std::uint32_t i = 0; i < batch.count; ++i) {
      if (!kept_[i]) rest[count++] = batch.buffer[i];
    }
  }
  std::fill_n(kept_.begin(), batch.count, false);
  kept_count_ = 0;
  return count;
}

std::uint32_t BurstSender::reclaim() noexcept {
  std::uint32_t count = 0;
  for (const std::uint8_t port : holding_) count += reclaim(*ports_[port]);
  return count;
}

/// Frees the buffers of the pool; returns the others, moved to the front.
std::span<const std::uint32_t> BurstSender::put_side(std::span<std::uint32_t> buffers) noexcept {
  const auto of_streams = std::remove_if(buffers.begin(), buffers.end(), [&](std::uint32_t buffer) {
    if (!pool_.is_side(buffer)) return false;
    pool_.put(buffer);
    return true;
  });
  return {buffers.begin(), of_streams};
}

std::uint32_t BurstSender::reclaim(TxQueue& queue) noexcept {
  std::array<std::uint32_t, kReclaimMax> buffers;
  std::uint32_t count = 0, given_up = 0;
  do {
    given_up = queue.reclaim(buffers);
    count += given_up;
    const auto back = std::span(buffers).first(given_up);
    returns_.give_back_buffers(pool_.all_here() ? back : put_side(back));
  } while (given_up == kReclaimMax && count < kBufferCountMax);
  return count;
}

}  // namespace millrace
