// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "io-worker/ports/afpacket.hpp"
#include "io-worker/ports/taken.hpp"
#include "io-worker/ports/tx_frames.hpp"
#include "shared/base/clock.hpp"
#include "shared/base/error.hpp"
#include "shared/base/limits.hpp"

namespace millrace {
namespace {

constexpr std::uint64_t kLookTicks = 100'000'000;  // some 40 ms: a system call more
constexpr int kSendBufferBytes = 4 << 20;          // what may wait in the device

class AfpacketTxQueue final : public TxQueue {
 public:
  /// `interface`: as the topology calls it, and as one that is made anew is called; empty
  /// `called_now`: it is gone.
  AfpacketTxQueue(const std::string& interface, const std::string& called_now, bool super_frames)
      : socket_(open_packet_socket()), interface_(interface), frames_(super_frames) {
    const int on = 1;
    ::setsockopt(socket_.get(), SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof on);
    if (super_frames &&
        ::setsockopt(socket_.get(), SOL_PACKET, PACKET_VNET_HDR, &on, sizeof on) != 0) {
      throw system_error("send super-frames by " + interface, errno);
    }
    const int bytes = kSendBufferBytes;
    if (::setsockopt(socket_.get(), SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes) != 0) {
      ::setsockopt(socket_.get(), SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    }
    failed_ = called_now.empty();
    if (!failed_) bind_packet_socket(socket_, called_now, 0);  // protocol 0: it receives nothing
  }

  std::uint32_t send(std::span<const TxPacket> packets) noexcept override {
    frames_.gather(packets);
    write_messages();
    failed_ = refused_ = false;
    std::size_t sent = 0;
    while (sent < frames_.count()) {
      const int taken = ::sendmmsg(socket_.get(), messages_.data() + sent,
                                   static_cast<unsigned>(frames_.count() - sent), MSG_DONTWAIT);
      if (taken > 0) {
        sent += static_cast<std::size_t>(taken);
        continue;
      }
      if (errno == EINTR) continue;
      note(errno);
      break;
    }
    // Past the queueing discipline the kernel drops a super-frame that the device cannot cut, and
    // reports a lack of memory. The caller tries again: then the packets go one by one.
    if (sent < frames_.count() && frames_.packets_of(sent) > 1) {
      frames_.pause_merging();
      refused_ = false;
    }
    return frames_.packets_in(sent);
  }
  bool failed() const noexcept override { return failed_; }
  bool refused() const noexcept override { return refused_; }

 private:
  void write_messages() noexcept {
    for (std::size_t i = 0; i < frames_.count(); ++i) {
      const std::span<iovec> pieces = frames_.pieces(i);
      messages_[i].msg_hdr.msg_iov = pieces.data();
      messages_[i].msg_hdr.msg_iovlen = pieces.size();
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

  /// Looks for the interface again: there may be a new one of the same name.
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
  TxFrames frames_;
  std::array<mmsghdr, kBatchCapacityMax> messages_{};
};

}  // namespace

std::unique_ptr<TxQueue> open_packet_tx(const std::string& interface, const std::string& run_dir,
                                        bool super_frames) {
  const std::string name = has_gone(run_dir, interface) ? "" : name_now(run_dir, interface);
  return std::make_unique<AfpacketTxQueue>(interface, name, super_frames);
}

std::unique_ptr<TxQueue> open_afpacket_tx(const PlanPort& port, const std::string& run_dir) {
  const AfpacketSettings settings = afpacket_settings(port);
  return open_packet_tx(settings.interface, run_dir, settings.super_frames);
}

}  // namespace millrace
