// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <sys/uio.h>

#include <cerrno>

#include "io-worker/ports/tap.hpp"
#include "io-worker/ports/tx_frames.hpp"
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
  TapTxQueue(std::vector<UniqueFd> files, std::uint32_t mtu, bool super_frames)
      : files_(std::move(files)), mtu_(mtu), frames_(super_frames) {}

  std::uint32_t send(std::span<const TxPacket> packets) noexcept override {
    failed_ = refused_ = false;
    frames_.gather(packets);
    std::uint32_t count = 0;
    for (std::size_t frame = 0; frame < frames_.count(); ++frame) {
      if (!send_one(frame, packets[count].bytes)) break;
      count += frames_.packets_of(frame);
    }
    return count;
  }
  bool failed() const noexcept override { return failed_; }
  bool refused() const noexcept override { return refused_; }

 private:
  /// `first`: the packet, or the first of several, none of which is longer.
  bool send_one(std::size_t frame, std::span<const std::byte> first) noexcept {
    // The kernel itself would take more than the interface's MTU.
    if (first.size() > head_bytes(first) + mtu_) {
      refused_ = true;
      return false;
    }
    const std::span<const iovec> pieces = frames_.pieces(frame);
    const auto count = static_cast<int>(pieces.size());
    while (::writev(file_of(first).get(), pieces.data(), count) < 0) {
      if (errno == EINTR) continue;
      note(errno);
      if (refused_ && frames_.packets_of(frame) > 1) {  // the caller tries again, one by one
        frames_.pause_merging();
        refused_ = false;
      }
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
  TxFrames frames_;
  bool failed_ = false, refused_ = false;
};

}  // namespace

std::unique_ptr<TxQueue> open_tap_tx(const PlanPort& port, std::vector<UniqueFd> files) {
  return std::make_unique<TapTxQueue>(std::move(files), port.mtu, tap_settings(port).super_frames);
}

}  // namespace millrace
