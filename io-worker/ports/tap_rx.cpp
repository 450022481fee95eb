// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "io-worker/ports/afpacket.hpp"
#include "io-worker/ports/checksum.hpp"
#include "io-worker/ports/received.hpp"
#include "io-worker/ports/super_frame.hpp"
#include "io-worker/ports/tap.hpp"
#include "shared/base/clock.hpp"

namespace millrace {
namespace {

constexpr std::uint64_t kStatisticsTicks = 50'000'000;  // some 20 ms: they cost system calls
constexpr std::uint64_t kRestNs = 10'000'000;  // between looks at an interface that has gone

class TapRxQueue final : public RxQueue {
 public:
  TapRxQueue(UniqueFd file, std::uint32_t index, std::uint32_t room, bool super_frames)
      : file_(std::move(file)),
        index_(index),
        room_(room),
        super_frames_(super_frames),
        missed_before_(read_tx_dropped(index).value_or(0)),
        rest_(room + kSuperFrameBytesMax) {}

  std::uint32_t poll(BufferSource& pool, std::span<RxPacket> out) noexcept override {
    std::uint32_t count = 0, buffer = 0;
    while (count < out.size() && pool.take({&buffer, 1}) == 1) {
      if (!receive(pool.area(), buffer, out[count])) {
        pool.give_back({&buffer, 1});
        break;
      }
      ++count;
    }
    read_statistics();
    return count;
  }
  /// The device does not repeat packets: numbers begin above all that any lane may have had.
  void resume(std::uint64_t first_wanted) noexcept override {
    ordinal_ = first_wanted + kBufferCountMax;
  }
  bool exhausted() const noexcept override { return false; }
  std::uint64_t next_ready_ns() const noexcept override { return gone_ ? kRestNs : 0; }
  /// An interface that has gone leaves its descriptor always ready. What is left of a super-frame
  /// does not make it ready.
  int wait_descriptor() noexcept override { return gone_ || super_.left() != 0 ? -1 : file_.get(); }
  std::uint32_t held() const noexcept override { return 0; }
  std::uint64_t missed() const noexcept override { return missed_; }
  std::uint64_t errors() const noexcept override { return gone_ ? 1 : 0; }

 private:
  /// The next packet, into the buffer: of a super-frame that was begun, or of the next frame.
  bool receive(BufferArea area, std::uint32_t buffer, RxPacket& out) noexcept {
    if (super_.left() != 0) {
      receive_next_of_super_frame(area, buffer, out);
      return true;
    }
    Offload offload;
    std::byte* const to = area.at(buffer) + kBufferHeadroom;
    const iovec pieces[3] = {
        {&offload, sizeof offload}, {to, room_}, {rest_.data() + room_, rest_.size() - room_}};
    const std::size_t in_front = super_frames_ ? sizeof offload : 0;
    const ssize_t bytes =
        super_frames_ ? ::readv(file_.get(), pieces, 3) : ::readv(file_.get(), pieces + 1, 2);
    if (bytes <= static_cast<ssize_t>(in_front)) {
      gone_ = gone_ || (bytes < 0 && errno == EBADFD);
      return false;
    }
    const auto length = static_cast<std::uint32_t>(static_cast<std::size_t>(bytes) - in_front);
    if (offload.segment_type != 0) {
      receive_super_frame(area, buffer, length, offload, out);
      return true;
    }
    describe(buffer, length, out);
    if ((offload.flags & Offload::kFillChecksum) != 0 && !out.oversize) {
      complete_checksum({to, length}, offload.checksum_start, offload.checksum_offset);
    }
    return true;
  }

  void describe(std::uint32_t buffer, std::uint32_t length, RxPacket& out) noexcept {
    describe_received(out, buffer, length, length, room_);
    out.malformed = false;
    out.ordinal = ordinal_++;
    out.time_tsc = 0;
  }

  /// The begin of the super-frame lies in the buffer, the rest in rest_, behind room for the begin.
  void receive_super_frame(BufferArea area, std::uint32_t buffer, std::uint32_t length,
                           const Offload& offload, RxPacket& out) noexcept {
    std::memcpy(rest_.data(), area.at(buffer) + kBufferHeadroom, std::min(length, room_));
    const SuperFrameIs is = super_.begin({rest_.data(), length}, {}, offload, room_);
    if (is == SuperFrameIs::kGood) {
      receive_next_of_super_frame(area, buffer, out);
      return;
    }
    describe(buffer, length, out);
    out.oversize = true;
    out.malformed = is == SuperFrameIs::kMalformed;
  }

  void receive_next_of_super_frame(BufferArea area, std::uint32_t buffer, RxPacket& out) noexcept {
    describe(buffer, super_.write_next(area.at(buffer) + kBufferHeadroom), out);
  }

  void read_statistics() noexcept {
    const std::uint64_t now = tsc_now();
    if (index_ == 0 || now - statistics_read_ < kStatisticsTicks) return;
    statistics_read_ = now;
    // Nothing when it was moved into another network namespace.
    const auto dropped = read_tx_dropped(index_);
    if (dropped && *dropped >= missed_before_) missed_ = *dropped - missed_before_;
  }

  UniqueFd file_;
  const std::uint32_t index_;
  const std::uint32_t room_;  ///< longest frame that is not oversize
  const bool super_frames_;
  const std::uint64_t missed_before_;
  std::uint64_t statistics_read_ = 0, missed_ = 0, ordinal_ = 0;
  bool gone_ = false;
  /// Room for the begin of a super-frame, and behind it what a buffer does not hold of a frame.
  std::vector<std::byte> rest_;
  SuperFrame super_;  ///< that is being read, in rest_
};

}  // namespace

std::unique_ptr<RxQueue> open_tap_rx(const PlanPort& port, UniqueFd file, std::uint32_t index,
                                     const BufferSource& pool) {
  const std::uint32_t room = std::min(buffer_room(pool.area()), longest_frame(port.mtu));
  return std::make_unique<TapRxQueue>(std::move(file), index, room,
                                      tap_settings(port).super_frames);
}

}  // namespace millrace
