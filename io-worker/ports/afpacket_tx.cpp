// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "io-worker/ports/afpacket.hpp"
#include "io-worker/ports/taken.hpp"
#include "shared/base/clock.hpp"
#include "shared/base/error.hpp"
#include "shared/layout/limits.hpp"

namespace millrace {
namespace {

constexpr std::uint64_t kLookTicks = 100'000'000;  // some 40 ms: a system call more
constexpr int kSendBufferBytes = 4 << 20;          // what may wait in the device

class AfpacketTxQueue final : public TxQueue {
 public:
  /// `interface`: as the topology calls it, and as one that is made anew is called.
  AfpacketTxQueue(const std::string& interface, const std::string& called_now)
      : socket_(open_packet_socket()), interface_(interface) {
    const int on = 1;
    ::setsockopt(socket_.get(), SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof on);
    const int bytes = kSendBufferBytes;
    if (::setsockopt(socket_.get(), SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes) != 0) {
      ::setsockopt(socket_.get(), SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    }
    bind_packet_socket(socket_, called_now, 0);  // protocol 0: it receives nothing
    for (std::size_t i = 0; i < messages_.size(); ++i) {
      messages_[i].msg_hdr.msg_iov = &pieces_[i];
      messages_[i].msg_hdr.msg_iovlen = 1;
    }
  }

  std::uint32_t send(std::span<const TxPacket> packets) noexcept override {
    const auto count = std::min(packets.size(), messages_.size());
    for (std::size_t i = 0; i < count; ++i) {
      // sendmmsg(2) does not write through it.
      pieces_[i] = {const_cast<std::byte*>(packets[i].bytes.data()), packets[i].bytes.size()};
    }
    failed_ = refused_ = false;
    std::size_t sent = 0;
    while (sent < count) {
      const int taken = ::sendmmsg(socket_.get(), messages_.data() + sent,
                                   static_cast<unsigned>(count - sent), MSG_DONTWAIT);
      if (taken > 0) {
        sent += static_cast<std::size_t>(taken);
        continue;
      }
      if (errno == EINTR) continue;
      note(errno);
      break;
    }
    return static_cast<std::uint32_t>(sent);
  }
  bool failed() const noexcept override { return failed_; }
  bool refused() const noexcept override { return refused_; }

 private:
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
  std::array<mmsghdr, kBatchCapacityMax> messages_{};
  std::array<iovec, kBatchCapacityMax> pieces_{};
};

}  // namespace

std::unique_ptr<TxQueue> open_packet_tx(const std::string& interface, const std::string& run_dir) {
  return std::make_unique<AfpacketTxQueue>(interface, name_now(run_dir, interface));
}

std::unique_ptr<TxQueue> open_afpacket_tx(const PlanPort& port, const std::string& run_dir) {
  return open_packet_tx(afpacket_settings(port).interface, run_dir);
}

}  // namespace millrace
