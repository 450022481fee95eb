// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "io-worker/ports/afpacket.hpp"
#include "io-worker/ports/checksum.hpp"
#include "io-worker/ports/fanout.hpp"
#include "io-worker/ports/received.hpp"
#include "shared/base/clock.hpp"
#include "shared/base/error.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kBlockBytes = 1u << 17;  // of the ring; frames do not cross them
constexpr std::uint32_t kFrameHeadBytes = 128;   // the kernel's headers in front of the packet
constexpr std::uint64_t kStatisticsTicks = 50'000'000;  // some 20 ms: they cost a system call
constexpr std::uint32_t kVlanTagBytes = 4;
constexpr std::uint32_t kMacsBytes = 12;  // the tag comes behind them

/// virtio_net_hdr, whose header is not C++: lies in front of the packet.
struct Offload {
  std::uint8_t flags;  ///< 1: the checksum is to be filled in
  std::uint8_t segment_type;
  std::uint16_t header_bytes, segment_bytes;
  std::uint16_t checksum_start, checksum_offset;
};
static_assert(sizeof(Offload) == 10);

template <typename Value>
void set(const UniqueFd& socket, int option, const Value& value, const char* what) {
  if (::setsockopt(socket.get(), SOL_PACKET, option, &value, sizeof value) != 0) {
    throw system_error(what, errno);
  }
}

/// The memory that the kernel fills.
class Ring {
 public:
  Ring(const UniqueFd& socket, std::uint32_t frames, std::uint32_t room)
      : frame_bytes_((room + kFrameHeadBytes + TPACKET_ALIGNMENT - 1) & ~(TPACKET_ALIGNMENT - 1)),
        frames_per_block_(kBlockBytes / frame_bytes_) {
    const std::uint32_t blocks = (frames + frames_per_block_ - 1) / frames_per_block_;
    frame_count_ = blocks * frames_per_block_;
    const tpacket_req request{kBlockBytes, blocks, frame_bytes_, frame_count_};
    set(socket, PACKET_VERSION, int{TPACKET_V2}, "use TPACKET_V2");
    set(socket, PACKET_RX_RING, request, "make a receive ring (smaller: ring)");
    bytes_ = std::size_t{blocks} * kBlockBytes;
    void* base =
        ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, socket.get(), 0);
    if (base == MAP_FAILED) throw system_error("map a receive ring", errno);
    base_ = static_cast<std::byte*>(base);
  }
  Ring(const Ring&) = delete;  // it is mapped memory
  Ring& operator=(const Ring&) = delete;
  ~Ring() { ::munmap(base_, bytes_); }

  tpacket2_hdr& next() const noexcept {
    return *reinterpret_cast<tpacket2_hdr*>(base_ +
                                            std::size_t{next_ / frames_per_block_} * kBlockBytes +
                                            std::size_t{next_ % frames_per_block_} * frame_bytes_);
  }
  std::uint32_t frames() const noexcept { return frame_count_; }
  void advance() noexcept {
    if (++next_ == frame_count_) next_ = 0;
  }

 private:
  std::uint32_t frame_bytes_, frames_per_block_, frame_count_ = 0;
  std::size_t bytes_ = 0;
  std::byte* base_ = nullptr;
  std::uint32_t next_ = 0;
};

class AfpacketRxQueue final : public RxQueue {
 public:
  AfpacketRxQueue(UniqueFd socket, UniqueFd promiscuous, std::uint32_t frames, std::uint32_t room,
                  std::uint32_t shares)
      : socket_(std::move(socket)),
        promiscuous_(std::move(promiscuous)),
        ring_(socket_, frames, room),
        room_(room),
        shares_(shares) {}

  std::uint32_t poll(BufferSource& pool, std::span<RxPacket> out) noexcept override {
    const BufferArea area = pool.area();
    std::uint32_t count = 0;
    for (; count < out.size(); ++count) {
      tpacket2_hdr& frame = ring_.next();
      std::atomic_ref<std::uint32_t> status(frame.tp_status);
      const std::uint32_t now = status.load(std::memory_order_acquire);
      std::uint32_t buffer = 0;
      if ((now & TP_STATUS_USER) == 0 || pool.take({&buffer, 1}) == 0) break;
      receive(area, frame, now, buffer, out[count]);
      status.store(TP_STATUS_KERNEL, std::memory_order_release);
      ring_.advance();
    }
    read_statistics();
    return count;
  }

  /// What comes is new, whatever some lane of the life before had been promised.
  void resume(std::uint64_t first_wanted) noexcept override {
    ordinal_ = first_wanted + kBufferCountMax;
  }
  bool exhausted() const noexcept override { return false; }
  std::uint64_t next_ready_ns() const noexcept override { return 0; }
  int wait_descriptor() noexcept override {
    // An interface that went down leaves its error, with which the descriptor is always ready.
    int error = 0;
    socklen_t bytes = sizeof error;
    ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &bytes);
    if (error != 0) ++errors_;
    return socket_.get();
  }
  std::uint32_t held() const noexcept override { return 0; }
  std::uint64_t missed() const noexcept override { return missed_; }
  std::uint64_t errors() const noexcept override { return errors_; }

  bool waiting() const noexcept override {
    std::atomic_ref<std::uint32_t> status(ring_.next().tp_status);
    return (status.load(std::memory_order_acquire) & TP_STATUS_USER) != 0;
  }
  std::uint32_t waiting_max() const noexcept override { return ring_.frames(); }
  void take_share(const std::function<void()>& beat) override {
    if (shares_ == 0) return;
    set_share_program(socket_, shares_);
    // Who chose by the program before has put his packet into a ring by then; and then nobody is
    // still writing a frame in front of it.
    for (int i = 0; i < 2; ++i) {
      beat();
      await_receivers();
    }
    beat();
  }

  const UniqueFd& socket() const { return socket_; }

 private:
  void receive(BufferArea area, const tpacket2_hdr& frame, std::uint32_t status,
               std::uint32_t buffer, RxPacket& out) noexcept {
    const auto* from = reinterpret_cast<const std::byte*>(&frame) + frame.tp_mac;
    const bool tagged = (status & TP_STATUS_VLAN_VALID) != 0 && frame.tp_snaplen >= kMacsBytes;
    const std::uint32_t tag_bytes = tagged ? kVlanTagBytes : 0;
    const std::uint32_t wire = frame.tp_len + tag_bytes;
    describe_received(out, buffer, frame.tp_snaplen + tag_bytes, wire, room_);
    out.oversize = wire > room_;
    out.ordinal = ordinal_++;
    out.time_tsc = 0;
    std::byte* to = area.at(buffer) + out.offset;
    if (!tagged) {
      std::memcpy(to, from, out.length);
    } else {
      const std::uint16_t type =
          (status & TP_STATUS_VLAN_TPID_VALID) != 0 ? frame.tp_vlan_tpid : std::uint16_t{0x8100};
      const std::uint16_t tag[2] = {htons(type), htons(frame.tp_vlan_tci)};
      std::memcpy(to, from, kMacsBytes);
      std::memcpy(to + kMacsBytes, tag, sizeof tag);
      std::memcpy(to + kMacsBytes + sizeof tag, from + kMacsBytes,
                  out.length - kMacsBytes - sizeof tag);
    }
    if ((status & TP_STATUS_CSUMNOTREADY) == 0 || out.oversize) return;
    Offload offload;
    std::memcpy(&offload, from - sizeof offload, sizeof offload);
    if ((offload.flags & 1) == 0) return;
    complete_checksum({to, out.length}, offload.checksum_start + tag_bytes,
                      offload.checksum_offset);
  }

  void read_statistics() noexcept {
    const std::uint64_t now = tsc_now();
    if (now - statistics_read_ < kStatisticsTicks) return;
    statistics_read_ = now;
    tpacket_stats statistics{};  // since the last reading
    socklen_t bytes = sizeof statistics;
    if (::getsockopt(socket_.get(), SOL_PACKET, PACKET_STATISTICS, &statistics, &bytes) == 0) {
      missed_ += statistics.tp_drops;
    }
  }

  UniqueFd socket_, promiscuous_;
  Ring ring_;
  const std::uint32_t room_;    ///< longest frame that is not oversize
  const std::uint32_t shares_;  ///< queues of the port, of the last one; 0: nothing to be taken
  std::uint64_t statistics_read_ = 0;
  std::uint64_t missed_ = 0, errors_ = 0;
  std::uint64_t ordinal_ = 0;
};

void set_filter(const UniqueFd& socket, bool closed) {
  sock_filter nothing = {BPF_RET | BPF_K, 0, 0, 0};
  const sock_fprog program{1, &nothing};
  const int result =
      closed ? ::setsockopt(socket.get(), SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program)
             : ::setsockopt(socket.get(), SOL_SOCKET, SO_DETACH_FILTER, &nothing, sizeof nothing);
  if (result != 0) throw system_error("filter a packet socket", errno);
}

}  // namespace

std::unique_ptr<RxQueue> open_afpacket_rx(const PlanPort& port, std::uint32_t number,
                                          const BufferSource& pool, bool) {
  const AfpacketSettings settings = afpacket_settings(port);
  const std::uint32_t room = std::min(buffer_room(pool.area()), longest_frame(port.mtu));
  UniqueFd socket = open_packet_socket();
  set(socket, PACKET_IGNORE_OUTGOING, 1, "ignore what we send ourselves (Linux 4.20 or later)");
  set(socket, PACKET_VNET_HDR, 1, "be told about checksums");
  set_filter(socket, true);
  auto queue = std::make_unique<AfpacketRxQueue>(
      std::move(socket), promiscuous_socket(settings.interface), settings.ring, room,
      settings.queues_max != 0 && number != 0 && number + 1 == settings.queues ? settings.queues
                                                                               : 0);
  bind_packet_socket(queue->socket(), settings.interface, ETH_P_ALL);
  if (settings.queues_max != 0) {
    share_by_program(queue->socket(), settings.interface);
    // The others go on as they did until take_share().
    if (settings.queues == 1) set_share_program(queue->socket(), 1);
  } else if (settings.queues > 1) {
    share_by_hash(queue->socket(), settings.interface);
  }
  set_filter(queue->socket(), false);
  return queue;
}

}  // namespace millrace
