// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/replay.hpp"

#include <algorithm>
#include <utility>

#include "io-worker/ports/capture_reader.hpp"
#include "io-worker/ports/received.hpp"
#include "io-worker/ports/schedule.hpp"
#include "io-worker/ports/settings.hpp"
#include "shared/base/clock.hpp"
#include "shared/base/error.hpp"
#include "shared/base/flow_hash.hpp"
#include "shared/base/prefetch.hpp"

namespace millrace {
namespace {

/// One packet of the capture. Its bytes are padded, so that what is restored has a fixed size.
struct StoredPacket {
  std::uint64_t start = 0;  ///< in the store
  RxPacket described;       ///< but for its buffer, ordinal and time
};

struct Capture {
  std::vector<StoredPacket> packets;
  std::vector<std::byte> store;
  std::uint64_t errors = 0;  ///< of the reader
  TroubleText trouble;
};

bool is_for_queue(std::span<const std::byte> frame, std::uint32_t queue, std::uint32_t queues) {
  if (queues == 1) return true;
  // Not the bits that choose the lane.
  const std::uint64_t spread = flow_hash(frame, parse_headers(frame)) * 0x9e3779b97f4a7c15ull;
  return (spread >> 32) * queues >> 32 == queue;
}

void store_packet(Capture& capture, const CaptureRecord& record, std::uint32_t room) {
  const std::size_t kept = std::min<std::size_t>(record.bytes.size(), room);
  const std::size_t start = capture.store.size();
  const std::size_t lines = (kept + kCacheLine - 1) / kCacheLine;
  const std::size_t padded = std::max<std::size_t>(lines * kCacheLine, kReplayRestoredBytes);
  capture.store.resize(start + padded);
  if (kept > 0) std::memcpy(capture.store.data() + start, record.bytes.data(), kept);
  StoredPacket& packet = capture.packets.emplace_back();
  packet.start = start;
  describe_received(packet.described, 0, record.bytes.size(), record.wire_length, room);
}

/// Counts the packets for this queue from the reader's present one on, the first without a buffer.
std::uint64_t count_rest(CaptureReader& reader, const ReplaySettings& settings,
                         std::uint32_t queue) {
  std::uint64_t count = 1;
  for (CaptureRecord record; reader.next(record) == CaptureStatus::kRecord;) {
    if (is_for_queue(record.bytes, queue, settings.queues)) ++count;
  }
  return count;
}

Capture read_capture(const PlanPort& port, const ReplaySettings& settings, std::uint32_t queue,
                     const BufferSource& pool) {
  CaptureReader reader(settings.file);
  Capture capture;
  CaptureRecord record;
  while (reader.next(record) == CaptureStatus::kRecord) {
    if (!is_for_queue(record.bytes, queue, settings.queues)) continue;
    if (capture.packets.size() == settings.count && settings.count != 0) break;
    if (capture.packets.size() == pool.count()) {
      std::uint64_t count = pool.count() + count_rest(reader, settings, queue);
      if (settings.count != 0) count = std::min(count, settings.count);
      throw Error(settings.file + ": " + std::to_string(count) + " packets for the " +
                  std::to_string(pool.count()) + " buffers of queue " + std::to_string(queue) +
                  ": say `buffers: " + std::to_string(count) + "` at the path that has `from: [" +
                  port.name + "]`, or use device 'pcap'");
    }
    store_packet(capture, record, buffer_room(pool.area()));
  }
  capture.errors = reader.errors();
  capture.trouble = reader.trouble_of(settings.file);
  return capture;
}

class ReplayRxQueue final : public RxQueue {
 public:
  ReplayRxQueue(const ReplaySettings& settings, Capture capture, std::uint32_t buffers,
                std::uint64_t tsc_hz)
      : capture_(std::move(capture)),
        packet_count_(capture_.packets.size()),
        laid_count_(packet_count_ == 0 ? 0 : buffers / packet_count_ * packet_count_),
        first_pass_(laid_count_),
        copy_(settings.copy),
        schedule_(settings.rate_mpps, count_of(settings), tsc_hz) {}

  std::uint32_t poll(BufferSource& pool, std::span<RxPacket> out) noexcept override {
    if (packet_count_ == 0) return 0;
    const std::uint64_t now = schedule_.has_rate() ? tsc_now() : 0;
    const std::uint32_t able = schedule_.ready(now, static_cast<std::uint32_t>(out.size()));
    const BufferArea area = pool.area();
    std::uint32_t given = 0;
    while (given < able) {
      // Up to where either the buffers or the capture begin again.
      const std::uint64_t straight = std::min(laid_count_ - place_, packet_count_ - packet_);
      const auto run = static_cast<std::uint32_t>(std::min<std::uint64_t>(able - given, straight));
      const std::uint32_t buffer = pool.first() + static_cast<std::uint32_t>(place_);
      const std::uint32_t taken = pool.take_run(buffer, run);
      hand_out(area, buffer, out.subspan(given, taken));
      given += taken;
      if (taken < run) break;
    }
    return given;
  }

  void resume(std::uint64_t first_wanted) noexcept override {
    schedule_.resume(first_wanted);
    if (packet_count_ == 0) return;
    place_ = first_wanted % laid_count_;
    packet_ = first_wanted % packet_count_;
  }

  bool exhausted() const noexcept override { return packet_count_ == 0 || schedule_.exhausted(); }
  void rest() noexcept override { schedule_.rest(); }
  std::uint64_t next_ready_ns() const noexcept override {
    return schedule_.has_rate() ? schedule_.next_ready_ns(tsc_now()) : 0;
  }
  int wait_descriptor() noexcept override { return -1; }
  std::uint32_t held() const noexcept override { return 0; }
  std::uint64_t missed() const noexcept override { return schedule_.missed(); }
  std::uint64_t errors() const noexcept override { return capture_.errors; }
  TroubleText trouble() const noexcept override { return capture_.trouble; }

 private:
  std::uint64_t count_of(const ReplaySettings& settings) const {
    if (settings.loop) return settings.count;
    return settings.count == 0 ? packet_count_ : std::min(settings.count, packet_count_);
  }

  /// out.size() packets of the capture, into consecutive buffers.
  void hand_out(BufferArea area, std::uint32_t buffer, std::span<RxPacket> out) noexcept {
    const bool whole = first_pass_ > 0 || copy_;
    const StoredPacket* packet = capture_.packets.data() + packet_;
    const std::byte* const store = capture_.store.data();
    Schedule schedule = schedule_;  // a local copy stays in registers
    for (RxPacket& handed : out) {
      fetch_ahead(area, buffer);
      const Schedule::Next next = schedule.next();
      handed = packet->described;
      handed.buffer = buffer;
      handed.ordinal = next.ordinal;
      handed.time_tsc = next.due_tsc;
      restore(area.at(buffer) + kBufferHeadroom, store + packet->start, packet->described.length,
              whole);
      ++buffer;
      ++packet;
    }
    schedule_ = schedule;
    advance(out.size());
  }

  void advance(std::uint64_t count) noexcept {
    first_pass_ -= std::min(first_pass_, count);
    place_ += count;
    packet_ += count;
    if (place_ == laid_count_) place_ = 0;
    if (packet_ == packet_count_) packet_ = 0;
  }

  /// Workers wrote these lines last, so they are asked for a few packets early.
  static void fetch_ahead(BufferArea area, std::uint32_t buffer) noexcept {
    constexpr std::uint32_t kPacketsAhead = 16;
    prefetch_for_write(area.at(buffer + kPacketsAhead) + kBufferHeadroom);
  }

  // Constant sizes for the usual case: the store is padded and a buffer is longer than that.
  static void restore(std::byte* to, const std::byte* from, std::uint32_t length,
                      bool whole) noexcept {
    if (whole) {
      std::memcpy(to, from, length);
    } else if (length <= kCacheLine) {
      std::memcpy(to, from, kCacheLine);
    } else {
      std::memcpy(to, from, kReplayRestoredBytes);
    }
  }

  const Capture capture_;
  const std::uint64_t packet_count_;
  const std::uint64_t laid_count_;  ///< buffers in use: whole copies of the capture
  std::uint64_t first_pass_;        ///< packets whose buffer was not written in this life
  const bool copy_;
  Schedule schedule_;
  std::uint64_t place_ = 0;   ///< of the next packet among the laid buffers
  std::uint64_t packet_ = 0;  ///< of the capture
};

}  // namespace

ReplaySettings replay_settings(const PlanPort& port) {
  const PortSettings settings(port);
  ReplaySettings parsed;
  parsed.file = settings.text("file");
  if (parsed.file.empty()) settings.refuse("needs 'file', the capture to replay");
  parsed.loop = settings.flag("loop");
  parsed.copy = settings.flag("copy");
  parsed.count = settings.number("count");
  parsed.rate_mpps = settings.decimal("rate_mpps");
  parsed.queues = settings.count("queues");
  return parsed;
}

void check_replay(const PlanPort& port) {
  const ReplaySettings settings = replay_settings(port);
  while_doing("port '" + port.name + "' (replay)", [&] {
    CaptureRecord record;
    if (CaptureReader(settings.file).next(record) != CaptureStatus::kRecord) {
      throw Error(settings.file + ": holds no packet");
    }
  });
}

PortQueues replay_queues(const PlanPort& port) { return {replay_settings(port).queues, 0}; }

std::unique_ptr<RxQueue> open_replay_rx(const PlanPort& port, std::uint32_t queue,
                                        const BufferSource& pool, bool) {
  const ReplaySettings settings = replay_settings(port);
  return std::make_unique<ReplayRxQueue>(settings, read_capture(port, settings, queue, pool),
                                         pool.count(),
                                         settings.rate_mpps > 0 ? measure_tsc_hz() : 0);
}

}  // namespace millrace
