// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <linux/if_xdp.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "io-worker/ports/afpacket.hpp"
#include "io-worker/ports/afxdp.hpp"
#include "io-worker/ports/checksum.hpp"
#include "io-worker/ports/ethtool.hpp"
#include "io-worker/ports/received.hpp"
#include "io-worker/ports/taken.hpp"
#include "io-worker/ports/xdp_program.hpp"
#include "io-worker/ports/xdp_socket.hpp"
#include "shared/base/check.hpp"
#include "shared/base/clock.hpp"

namespace millrace {
namespace {

constexpr std::uintptr_t kPage = 4096;
constexpr std::uint32_t kChunkMax = 4096;
constexpr std::uint32_t kRefill = 64;                   // buffers at a time
constexpr std::uint64_t kStatisticsTicks = 50'000'000;  // some 20 ms: they cost a system call
constexpr std::uint32_t kOffsetShift = 48;              // of an address with its offset apart
constexpr std::uint64_t kBaseMask = (std::uint64_t{1} << kOffsetShift) - 1;

std::uint32_t chunk_bytes(const BufferArea& area) { return std::min(area.stride, kChunkMax); }

/// The pages in which the pool's buffers lie.
XdpMemory memory_of(const BufferSource& pool) {
  const BufferArea area = pool.area();
  const auto first = reinterpret_cast<std::uintptr_t>(area.at(pool.first()));
  const auto end =
      reinterpret_cast<std::uintptr_t>(area.at(pool.first() + pool.count() - 1)) + area.stride;
  const std::uintptr_t base = first & ~(kPage - 1);
  return {reinterpret_cast<std::byte*>(base), ((end + kPage - 1) & ~(kPage - 1)) - base,
          chunk_bytes(area)};
}

class AfxdpRxQueue final : public RxQueue {
 public:
  AfxdpRxQueue(const AfxdpSettings& settings, std::uint32_t queue, std::uint32_t mtu,
               const BufferSource& pool);

  std::uint32_t poll(BufferSource& pool, std::span<RxPacket> out) noexcept override;
  /// The device does not repeat packets: numbers begin above all that any lane may have had.
  void resume(std::uint64_t first_wanted) noexcept override {
    ordinal_ = first_wanted + kBufferCountMax;
  }
  bool exhausted() const noexcept override { return false; }
  std::uint64_t next_ready_ns() const noexcept override { return 0; }
  int wait_descriptor() noexcept override { return socket_.descriptor().get(); }
  std::uint32_t held() const noexcept override { return held_; }
  std::uint64_t missed() const noexcept override { return missed_; }
  std::string remark() const override;

 private:
  struct Piece {
    std::uint32_t buffer = 0;
    std::byte* data = nullptr;
    std::uint32_t bytes = 0;
  };

  Piece piece_of(const BufferArea& area, const xdp_desc& entry) const noexcept;
  void receive(BufferSource& pool, std::uint32_t pieces, RxPacket& out) noexcept;
  void refill(BufferSource& pool) noexcept;
  void read_statistics() noexcept;

  const XdpMemory memory_;
  const std::uint32_t first_, count_;  ///< of the pool's buffers
  const std::uint32_t room_;           ///< longest frame that is not oversize
  const std::uint32_t wanted_;         ///< buffers to hold
  const bool without_checksums_;       ///< the other end leaves them to hardware that is not there
  const std::string name_;
  UniqueFd promiscuous_;
  XdpSocket socket_;
  XdpProgram program_;
  std::uint32_t taken_ = 0;   ///< of the receive ring
  std::uint32_t filled_ = 0;  ///< of the fill ring
  std::uint32_t held_ = 0;
  std::uint64_t ordinal_ = 0, missed_ = 0, statistics_read_ = 0;
};

AfxdpRxQueue::AfxdpRxQueue(const AfxdpSettings& settings, std::uint32_t queue, std::uint32_t mtu,
                           const BufferSource& pool)
    : memory_(memory_of(pool)),
      first_(pool.first()),
      count_(pool.count()),
      room_(std::min(buffer_room(pool.area()), longest_frame(mtu))),
      wanted_(settings.ring),
      without_checksums_(is_virtual_cable(Ethtool(settings.interface).driver())),
      name_(settings.interface + " queue " + std::to_string(queue)),
      promiscuous_(open_packet_socket()),
      socket_(memory_, std::bit_ceil(settings.ring)),
      program_(XdpProgram::attach(settings.interface)) {
  receive_all(promiscuous_, settings.interface);
  socket_.bind(settings.interface, queue, room_ > memory_.chunk_bytes - kXdpHeadroom);
  program_.serve(queue, socket_.descriptor());
}

std::string AfxdpRxQueue::remark() const {
  return name_ + ": AF_XDP, " + (socket_.zero_copy() ? "zero copy" : "copy mode") +
         "; sent by a packet socket";
}

AfxdpRxQueue::Piece AfxdpRxQueue::piece_of(const BufferArea& area,
                                           const xdp_desc& entry) const noexcept {
  std::byte* const chunk = memory_.base + (entry.addr & kBaseMask);
  const auto buffer =
      static_cast<std::uint32_t>(static_cast<std::size_t>(chunk - area.base) / area.stride);
  MILLRACE_CHECK(buffer - first_ < count_);
  return {buffer, chunk + (entry.addr >> kOffsetShift), entry.len};
}

std::uint32_t AfxdpRxQueue::poll(BufferSource& pool, std::span<RxPacket> out) noexcept {
  const std::uint32_t end = socket_.received().produced();
  std::uint32_t count = 0;
  while (count < out.size() && taken_ != end) {
    std::uint32_t last = taken_;
    while (last != end && (socket_.received()[last].options & kXdpContinued) != 0) ++last;
    if (last == end) break;  // the rest of the frame is on its way
    const std::uint32_t pieces = last - taken_ + 1;
    receive(pool, pieces, out[count++]);
    taken_ += pieces;
    held_ -= pieces;
  }
  if (count != 0) socket_.received().consume_to(taken_);
  refill(pool);
  read_statistics();
  return count;
}

void AfxdpRxQueue::receive(BufferSource& pool, std::uint32_t pieces, RxPacket& out) noexcept {
  const BufferArea area = pool.area();
  const Piece first = piece_of(area, socket_.received()[taken_]);
  std::byte* data = first.data;
  std::uint32_t bytes = first.bytes, wire = first.bytes;
  if (pieces > 1) {  // the whole frame fits only behind the usual headroom
    data = area.at(first.buffer) + kBufferHeadroom;
    std::memmove(data, first.data, first.bytes);
  }
  for (std::uint32_t i = 1; i < pieces; ++i) {
    const Piece piece = piece_of(area, socket_.received()[taken_ + i]);
    const std::uint32_t copied = std::min(piece.bytes, room_ - std::min(room_, bytes));
    std::memcpy(data + bytes, piece.data, copied);
    bytes += copied;
    wire += piece.bytes;
    pool.give_back({&piece.buffer, 1});
  }
  out = {first.buffer,
         static_cast<std::uint16_t>(data - area.at(first.buffer)),
         static_cast<std::uint16_t>(std::min(bytes, room_)),
         wire,
         wire > room_,
         false,
         ordinal_++,
         0};
  if (without_checksums_ && !out.oversize) complete_bare_checksum({data, out.length});
}

void AfxdpRxQueue::refill(BufferSource& pool) noexcept {
  std::array<std::uint32_t, kRefill> buffers;
  const BufferArea area = pool.area();
  while (wanted_ - held_ >= kRefill) {
    const std::uint32_t count = pool.take(buffers);
    if (count == 0) break;
    pool.hold({buffers.data(), count});
    for (std::uint32_t i = 0; i < count; ++i) {
      socket_.fill()[filled_++] = static_cast<std::uint64_t>(area.at(buffers[i]) - memory_.base);
    }
    held_ += count;
    socket_.fill().produce_to(filled_);
  }
  if (socket_.fill().needs_wakeup()) socket_.wake_kernel();
}

void AfxdpRxQueue::read_statistics() noexcept {
  const std::uint64_t now = tsc_now();
  if (now - statistics_read_ < kStatisticsTicks) return;
  statistics_read_ = now;
  missed_ = std::max(missed_, socket_.dropped());
}

}  // namespace

std::unique_ptr<RxQueue> open_afxdp_rx(const PlanPort& port, std::uint32_t queue, ShareSet,
                                       const BufferSource& pool, const std::string& run_dir) {
  AfxdpSettings settings = afxdp_settings(port);
  settings.interface = name_now(run_dir, settings.interface);
  return std::make_unique<AfxdpRxQueue>(settings, queue, port.mtu, pool);
}

}  // namespace millrace
