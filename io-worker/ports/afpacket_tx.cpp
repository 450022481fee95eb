// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <numeric>
#include <vector>

#include "io-worker/ports/afpacket.hpp"
#include "io-worker/ports/segment_run.hpp"
#include "io-worker/ports/taken.hpp"
#include "shared/base/clock.hpp"
#include "shared/base/error.hpp"
#include "shared/layout/limits.hpp"

namespace millrace {
namespace {

constexpr std::uint64_t kLookTicks = 100'000'000;  // some 40 ms: a system call more
constexpr int kSendBufferBytes = 4 << 20;          // what may wait in the device
constexpr Offload kAsItIs;

class AfpacketTxQueue final : public TxQueue {
 public:
  /// `interface`: as the topology calls it, and as one that is made anew is called.
  AfpacketTxQueue(const std::string& interface, const std::string& called_now, bool super_frames)
      : socket_(open_packet_socket()), interface_(interface), merges_(super_frames) {
    const int on = 1;
    ::setsockopt(socket_.get(), SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof on);
    if (merges_ && ::setsockopt(socket_.get(), SOL_PACKET, PACKET_VNET_HDR, &on, sizeof on) != 0) {
      throw system_error("send super-frames by " + interface, errno);
    }
    const int bytes = kSendBufferBytes;
    if (::setsockopt(socket_.get(), SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes) != 0) {
      ::setsockopt(socket_.get(), SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    }
    bind_packet_socket(socket_, called_now, 0);  // protocol 0: it receives nothing
    if (merges_) runs_.resize(kBatchCapacityMax / 2);
  }

  std::uint32_t send(std::span<const TxPacket> packets) noexcept override {
    write_messages(packets.first(std::min(packets.size(), messages_.size())));
    failed_ = refused_ = false;
    std::size_t sent = 0;
    while (sent < message_count_) {
      const int taken = ::sendmmsg(socket_.get(), messages_.data() + sent,
                                   static_cast<unsigned>(message_count_ - sent), MSG_DONTWAIT);
      if (taken > 0) {
        sent += static_cast<std::size_t>(taken);
        continue;
      }
      if (errno == EINTR) continue;
      note(errno);
      break;
    }
    // Past the queueing discipline the kernel drops what the device cannot cut, for want of memory
    // as it says. The caller tries again: then they go one by one.
    if (sent < message_count_ && packets_of_[sent] > 1) {
      merge_from_ = tsc_now() + kLookTicks;
      refused_ = false;
    }
    return std::accumulate(packets_of_.begin(), packets_of_.begin() + sent, 0u);
  }
  bool failed() const noexcept override { return failed_; }
  bool refused() const noexcept override { return refused_; }

 private:
  // sendmmsg(2) does not write through it.
  void add_piece(std::span<const std::byte> bytes) noexcept {
    pieces_[piece_count_++] = {const_cast<std::byte*>(bytes.data()), bytes.size()};
  }
  void write_messages(std::span<const TxPacket> packets) noexcept {
    message_count_ = piece_count_ = 0;
    std::size_t run = 0;
    const bool merge = merges_ && tsc_now() >= merge_from_;
    while (!packets.empty()) {
      const std::uint32_t count = merge ? runs_[run].find(packets) : 1;
      const std::size_t first = piece_count_;
      if (count > 1) {
        const SegmentRun& found = runs_[run++];
        add_piece(std::as_bytes(std::span(&found.offload(), 1)));
        add_piece(found.head());
        for (const TxPacket& packet : packets.first(count)) {
          add_piece(packet.bytes.subspan(found.head().size()));
        }
      } else {
        if (merges_) add_piece(std::as_bytes(std::span(&kAsItIs, 1)));
        add_piece(packets.front().bytes);
      }
      packets_of_[message_count_] = count;
      msghdr& message = messages_[message_count_++].msg_hdr;
      message.msg_iov = &pieces_[first];
      message.msg_iovlen = piece_count_ - first;
      packets = packets.subspan(count);
    }
  }

  void note(int error) noexcept {
    switch (error) {
      case EAGAIN:   // too much waits in the device
      case ENOBUFS:  // its ring is full, or there is no carrier
      case ENOMEM:
        return;
      case ENXIO:  // the interface is gone
      case ENODEV:
        find_again();
        [[fallthrough]];
      case ENETDOWN:  // the interface is down
        failed_ = true;
        return;
      default:  // EMSGSIZE: longer than the interface takes; EINVAL: no whole header
        refused_ = true;
    }
  }

  /// A new one of the same name may be there.
  void find_again() noexcept {
    const std::uint64_t now = tsc_now();
    if (now - looked_ < kLookTicks) return;
    looked_ = now;
    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_ifindex = static_cast<int>(::if_nametoindex(interface_.c_str()));
    if (address.sll_ifindex == 0) return;
    // Else the next send fails again.
    static_cast<void>(
        ::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address));
  }

  UniqueFd socket_;
  const std::string interface_;
  std::uint64_t looked_ = 0;
  bool failed_ = false, refused_ = false;
  const bool merges_;             ///< into super-frames: every message begins with an Offload
  std::uint64_t merge_from_ = 0;  ///< time stamp: before it the device has refused one
  std::vector<SegmentRun> runs_;
  std::array<mmsghdr, kBatchCapacityMax> messages_{};
  std::array<std::uint32_t, kBatchCapacityMax> packets_of_{};  ///< of each message
  std::array<iovec, 2 * kBatchCapacityMax> pieces_{};
  std::size_t message_count_ = 0, piece_count_ = 0;
};

}  // namespace

std::unique_ptr<TxQueue> open_packet_tx(const std::string& interface, const std::string& run_dir,
                                        bool super_frames) {
  return std::make_unique<AfpacketTxQueue>(interface, name_now(run_dir, interface), super_frames);
}

std::unique_ptr<TxQueue> open_afpacket_tx(const PlanPort& port, const std::string& run_dir) {
  const AfpacketSettings settings = afpacket_settings(port);
  return open_packet_tx(settings.interface, run_dir, settings.super_frames);
}

}  // namespace millrace
