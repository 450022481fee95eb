// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "io-worker/ports/afpacket.hpp"
#include "io-worker/ports/received.hpp"
#include "io-worker/ports/tap.hpp"
#include "shared/base/clock.hpp"

namespace millrace {
namespace {

constexpr std::uint64_t kStatisticsTicks = 50'000'000;  // some 20 ms: they cost system calls
constexpr std::uint64_t kRestNs = 10'000'000;  // between looks at an interface that has gone

class TapRxQueue final : public RxQueue {
 public:
  TapRxQueue(UniqueFd file, std::uint32_t index, std::uint32_t room)
      : file_(std::move(file)),
        index_(index),
        room_(room),
        missed_before_(read_tx_dropped(index).value_or(0)) {}

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
  /// What comes is new, whatever some lane of the life before had been promised.
  void resume(std::uint64_t first_wanted) noexcept override {
    ordinal_ = first_wanted + kBufferCountMax;
  }
  bool exhausted() const noexcept override { return false; }
  std::uint64_t next_ready_ns() const noexcept override { return gone_ ? kRestNs : 0; }
  /// An interface that has gone leaves its descriptor always ready.
  int wait_descriptor() noexcept override { return gone_ ? -1 : file_.get(); }
  std::uint32_t held() const noexcept override { return 0; }
  std::uint64_t missed() const noexcept override { return missed_; }
  std::uint64_t errors() const noexcept override { return gone_ ? 1 : 0; }

 private:
  bool receive(BufferArea area, std::uint32_t buffer, RxPacket& out) noexcept {
    const iovec pieces[2] = {{area.at(buffer) + kBufferHeadroom, room_},
                             {overflow_.data(), overflow_.size()}};
    const ssize_t bytes = ::readv(file_.get(), pieces, 2);
    if (bytes <= 0) {
      gone_ = gone_ || (bytes < 0 && errno == EBADFD);
      return false;
    }
    const auto length = static_cast<std::uint32_t>(bytes);
    describe_received(out, buffer, length, length, room_);
    out.ordinal = ordinal_++;
    out.time_tsc = 0;
    return true;
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
  const std::uint64_t missed_before_;
  std::uint64_t statistics_read_ = 0, missed_ = 0, ordinal_ = 0;
  bool gone_ = false;
  std::array<std::byte, 65536> overflow_;  ///< the rest of a frame that is too long
};

}  // namespace

std::unique_ptr<RxQueue> open_tap_rx(const PlanPort& port, UniqueFd file, std::uint32_t index,
                                     const BufferSource& pool) {
  const std::uint32_t room = std::min(buffer_room(pool.area()), longest_frame(port.mtu));
  return std::make_unique<TapRxQueue>(std::move(file), index, room);
}

}  // namespace millrace
