// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cerrno>

#include "io-worker/ports/tap.hpp"
#include "shared/base/flow_hash.hpp"

namespace millrace {
namespace {

constexpr std::size_t kTypeOffset = 12;  // behind the MAC addresses
constexpr std::size_t kTagBytes = 4;
constexpr int kTagsMax = 2;

/// Bytes of Ethernet's header and VLAN tags.
std::size_t head_bytes(std::span<const std::byte> frame) noexcept {
  std::size_t at = kTypeOffset;
  for (int tags = 0; tags < kTagsMax && at + 2 <= frame.size(); ++tags, at += kTagBytes) {
    const auto type =
        std::to_integer<unsigned>(frame[at]) << 8 | std::to_integer<unsigned>(frame[at + 1]);
    if (type != 0x8100 && type != 0x88a8) break;
  }
  return at + 2;
}

class TapTxQueue final : public TxQueue {
 public:
  TapTxQueue(std::vector<UniqueFd> files, std::uint32_t mtu)
      : files_(std::move(files)), mtu_(mtu) {}

  std::uint32_t send(std::span<const TxPacket> packets) noexcept override {
    failed_ = refused_ = false;
    std::uint32_t count = 0;
    while (count < packets.size() && send_one(packets[count].bytes)) ++count;
    return count;
  }
  bool failed() const noexcept override { return failed_; }
  bool refused() const noexcept override { return refused_; }

 private:
  bool send_one(std::span<const std::byte> frame) noexcept {
    // The kernel itself would take more than the interface's MTU.
    if (frame.size() > head_bytes(frame) + mtu_) {
      refused_ = true;
      return false;
    }
    while (::write(file_of(frame).get(), frame.data(), frame.size()) < 0) {
      if (errno == EINTR) continue;
      note(errno);
      return false;
    }
    return true;
  }
  const UniqueFd& file_of(std::span<const std::byte> frame) const noexcept {
    if (files_.size() == 1) return files_[0];
    return files_[std::uint64_t{flow_hash_of(frame)} * files_.size() >> 32];
  }
  void note(int error) noexcept {
    switch (error) {
      case EAGAIN:  // too much waits behind the interface
      case ENOBUFS:
      case ENOMEM:
        return;
      case EIO:     // the interface is down
      case EBADFD:  // ... or gone
        failed_ = true;
        return;
      default:  // EINVAL: no whole header
        refused_ = true;
    }
  }

  std::vector<UniqueFd> files_;
  const std::uint32_t mtu_;
  bool failed_ = false, refused_ = false;
};

}  // namespace

std::unique_ptr<TxQueue> open_tap_tx(const PlanPort& port, std::vector<UniqueFd> files) {
  return std::make_unique<TapTxQueue>(std::move(files), port.mtu);
}

}  // namespace millrace
