// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <utility>
#include <vector>

#include "io-worker/ports/afpacket.hpp"
#include "io-worker/ports/frame_reader.hpp"
#include "io-worker/ports/kept_file.hpp"
#include "io-worker/ports/received.hpp"
#include "io-worker/ports/ring_share.hpp"
#include "io-worker/ports/taken.hpp"
#include "shared/base/clock.hpp"
#include "shared/base/error.hpp"
#include "shared/base/limits.hpp"

namespace millrace {
namespace {

// The limit while packets wait: a hub that hangs delays them no longer than this.
constexpr std::chrono::milliseconds kLenderAnswersSoon{50};

bool are_same(const UniqueFd& one, const UniqueFd& other) noexcept {
  struct stat a = {};
  struct stat b = {};
  return ::fstat(one.get(), &a) == 0 && ::fstat(other.get(), &b) == 0 && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino;
}

/// Where the sockets of a port's shares are opened and kept.
struct RxPlace {
  std::string run_dir;
  PlanPort port;
  AfpacketSettings settings;  ///< with the name that the interface has now
  std::uint32_t index;        ///< of the interface, whatever it will be called
  PacketRingShape shape;

  std::string name(std::uint32_t share) const { return kept_file_name(port, share); }
  bool shared() const { return settings.shares() > 1; }
};

class AfpacketRxQueue final : public RxQueue, public RxShares {
 public:
  AfpacketRxQueue(RxPlace place, ShareSet shares, std::uint32_t room);

  std::uint32_t poll(BufferSource& pool, std::span<RxPacket> out) noexcept override;
  void resume(std::uint64_t first_wanted) noexcept override;
  void release_below(std::uint64_t ordinal) noexcept override {
    for (Share& share : open_) share.at.ring().release_below(ordinal);
  }
  bool exhausted() const noexcept override { return false; }
  std::uint64_t next_ready_ns() const noexcept override { return 0; }
  int wait_descriptor() noexcept override;
  std::uint32_t held() const noexcept override { return 0; }
  std::uint64_t missed() const noexcept override;
  std::uint64_t errors() const noexcept override;
  bool leave_with_keepers() noexcept override;
  RxShares* shares() noexcept override { return place_.shared() ? this : nullptr; }
  std::string remark() const override;

  ShareSet read_here() const noexcept override;
  void admit() noexcept override {
    for (const Share& share : open_) share.at.admit();
  }
  bool hold(ShareSet shares) noexcept override;
  bool leave(std::uint32_t share) noexcept override;
  bool join(std::uint32_t share) noexcept override;

 private:
  struct Share {
    std::uint32_t number;
    RingShare at;
    bool held = false;
  };

  RingShare opened(std::uint32_t share) const;
  std::uint32_t poll_again(BufferSource& pool, std::span<RxPacket> out) noexcept;
  std::uint32_t poll_share(Share& share, BufferSource& pool, std::span<RxPacket> out) noexcept;
  void begin(PacketRing& ring, std::optional<std::uint64_t> last_ordinal) noexcept;
  std::uint32_t read_on(BufferSource& pool, std::span<RxPacket> out) noexcept;
  std::vector<Share>::iterator find(std::uint32_t share) noexcept {
    return std::ranges::find(open_, share, &Share::number);
  }
  void watch(const RingShare& share, int operation) noexcept;

  const RxPlace place_;
  const std::uint32_t room_;  ///< longest frame that is not oversize
  std::vector<Share> open_;
  std::size_t turn_ = 0;               ///< which of them is polled first
  bool again_ = false;                 ///< packets of a life before are still to be read
  FrameReader reading_;                ///< the frame that was taken last, of whatever share
  std::uint64_t reading_ordinal_ = 0;  ///< of its next packet
  std::uint64_t next_ordinal_ = 0;
  UniqueFd any_;                           ///< epoll over all of them, where the port is shared
  std::uint64_t missed_ = 0, errors_ = 0;  ///< of shares that were left, and of none
};

AfpacketRxQueue::AfpacketRxQueue(RxPlace place, ShareSet shares, std::uint32_t room)
    : place_(std::move(place)), room_(room) {
  open_.reserve(kPortQueueCountMax);
  if (place_.shared()) {
    any_ = UniqueFd(::epoll_create1(EPOLL_CLOEXEC));
    if (!any_) throw system_error("epoll_create1", errno);
  }
  for (; shares != 0; shares &= shares - 1) {
    const auto number = static_cast<std::uint32_t>(std::countr_zero(shares));
    open_.push_back({number, opened(number)});
    watch(open_.back().at, EPOLL_CTL_ADD);
  }
  if (!place_.shared()) admit();
}

/// The share's socket that hub or standby have kept, or a new one.
RingShare AfpacketRxQueue::opened(std::uint32_t share) const {
  const std::string name = place_.name(share);
  auto kept = RingShare::adopt(borrow_kept(place_.run_dir, name), place_.index, place_.shape);
  if (kept) {
    leave_kept_if_none(place_.run_dir, name, kept->socket());
    return std::move(*kept);
  }
  RingShare made = RingShare::make(place_.settings, place_.shape);
  leave_kept(place_.run_dir, name, made.socket());
  return made;
}

void AfpacketRxQueue::watch(const RingShare& share, int operation) noexcept {
  epoll_event wish{.events = EPOLLIN, .data = {}};
  if (any_ && ::epoll_ctl(any_.get(), operation, share.socket().get(), &wish) != 0) {
    ++errors_;  // it is polled now and then all the same
  }
}

void AfpacketRxQueue::resume(std::uint64_t first_wanted) noexcept {
  next_ordinal_ = first_wanted + kBufferCountMax;  // above all that any lane may have had
  for (Share& share : open_) {
    PacketRing& ring = share.at.ring();
    ring.resume(first_wanted);
    errors_ += ring.given_up();
    next_ordinal_ = std::max(next_ordinal_, ring.ordinals_end());
    again_ = again_ || ring.again() != 0;
  }
}

std::uint32_t AfpacketRxQueue::poll(BufferSource& pool, std::span<RxPacket> out) noexcept {
  std::uint32_t count = read_on(pool, out);  // also when its share is held since
  if (reading_.left() != 0) return count;
  if (again_) [[unlikely]]
    return count + poll_again(pool, out.subspan(count));
  const std::uint64_t now = tsc_now();
  for (std::size_t i = 0; i < open_.size(); ++i) {
    Share& share = open_[(turn_ + i) % open_.size()];
    const std::uint32_t got = share.held ? 0 : poll_share(share, pool, out.subspan(count));
    count += got;
    share.at.read_statistics(now, got != 0);
    if (reading_.left() != 0) break;
  }
  if (open_.size() > 1) turn_ = (turn_ + 1) % open_.size();
  return count;
}

std::uint32_t AfpacketRxQueue::poll_share(Share& share, BufferSource& pool,
                                          std::span<RxPacket> out) noexcept {
  std::uint32_t count = 0;
  while (count < out.size() && reading_.left() == 0 && share.at.ring().next() != nullptr) {
    begin(share.at.ring(), std::nullopt);
    count += read_on(pool, out.subspan(count));
  }
  return count;
}

/// Takes the ring's next frame, under the ordinal of its last packet: so it goes back to the kernel
/// when all its packets are sealed, and the successor of a dead reader knows the ordinals of all.
void AfpacketRxQueue::begin(PacketRing& ring, std::optional<std::uint64_t> last_ordinal) noexcept {
  reading_.begin(*ring.next(), room_);
  if (!last_ordinal) last_ordinal = (next_ordinal_ += reading_.left()) - 1;
  reading_ordinal_ = *last_ordinal + 1 - reading_.left();
  ring.take(*last_ordinal);
}

/// Reads the rest of the frame that was begun.
std::uint32_t AfpacketRxQueue::read_on(BufferSource& pool, std::span<RxPacket> out) noexcept {
  const BufferArea area = pool.area();
  std::uint32_t count = 0;
  for (std::uint32_t buffer = 0; count < out.size() && reading_.left() != 0; ++count) {
    if (pool.take({&buffer, 1}) == 0) break;
    reading_.next(area, buffer, out[count]);
    out[count].ordinal = reading_ordinal_++;
  }
  return count;
}

/// Reads packets again, of all shares, in the order in which the process before read them: the
/// ingress knows by their ordinals which of them are sealed.
std::uint32_t AfpacketRxQueue::poll_again(BufferSource& pool, std::span<RxPacket> out) noexcept {
  std::uint32_t count = 0;
  while (count < out.size() && reading_.left() == 0) {
    PacketRing* first = nullptr;
    for (Share& share : open_) {
      PacketRing& ring = share.at.ring();
      if (!ring.ordinal_again()) continue;
      if (first == nullptr || *ring.ordinal_again() < *first->ordinal_again()) first = &ring;
    }
    again_ = first != nullptr;
    if (!again_) break;
    begin(*first, first->ordinal_again());
    count += read_on(pool, out.subspan(count));
  }
  return count;
}

int AfpacketRxQueue::wait_descriptor() noexcept {
  for (const Share& share : open_) {
    // An interface that went down leaves its error, with which the descriptor is always ready.
    int error = 0;
    socklen_t bytes = sizeof error;
    ::getsockopt(share.at.socket().get(), SOL_SOCKET, SO_ERROR, &error, &bytes);
    if (error != 0) ++errors_;
  }
  // Packets in a held share keep the descriptor ready: the ingress would not sleep.
  if (std::ranges::any_of(open_, &Share::held)) return -1;
  return any_ ? any_.get() : open_.front().at.socket().get();
}

std::uint64_t AfpacketRxQueue::missed() const noexcept {
  std::uint64_t count = missed_;
  for (const Share& share : open_) count += share.at.missed();
  return count;
}

std::uint64_t AfpacketRxQueue::errors() const noexcept {
  std::uint64_t count = errors_;
  for (const Share& share : open_) count += share.at.errors();
  return count;
}

std::string AfpacketRxQueue::remark() const {
  std::uint32_t kept = 0, again = 0, given_up = 0;
  for (const Share& share : open_) {
    kept += share.at.kept() ? 1 : 0;
    again += share.at.ring().again();
    given_up += share.at.ring().given_up();
  }
  if (kept == 0) return {};
  std::string text = "goes on with the socket" + std::string(kept > 1 ? "s" : "") +
                     " of the life before; packets read again: " + std::to_string(again);
  if (given_up != 0) {
    text += "; given up, as it has died with them before: " + std::to_string(given_up);
  }
  return text;
}

/// Replaces what hub and standby have: it may be from before the socket was replaced.
bool AfpacketRxQueue::leave_with_keepers() noexcept {
  bool all = true;  // one of the two may be away for good: the other one is to have them
  for (const Share& share : open_) {
    all &= leave_kept(place_.run_dir, place_.name(share.number), share.at.socket(),
                      kLenderAnswersSoon);
  }
  return all;
}

ShareSet AfpacketRxQueue::read_here() const noexcept {
  ShareSet set = 0;
  for (const Share& share : open_) set |= ShareSet{1} << share.number;
  return set;
}

bool AfpacketRxQueue::hold(ShareSet shares) noexcept {
  if (again_) return false;  // poll_again() goes by order, not by share
  for (Share& share : open_) share.held = (shares >> share.number & 1) != 0;
  return true;
}

bool AfpacketRxQueue::leave(std::uint32_t number) noexcept {
  const auto share = find(number);
  if (share == open_.end() || !share->held || !share->at.ring().leave()) return false;
  // Only a share that hub or standby keep can be left: one of them may have been away when the
  // socket was made, and may still have another one.
  const std::string name = place_.name(number);
  leave_kept_if_none(place_.run_dir, name, share->at.socket(), kLenderAnswersSoon);
  const UniqueFd kept = borrow_kept(place_.run_dir, name, kLenderAnswersSoon);
  if (!are_same(kept, share->at.socket())) return false;
  watch(share->at, EPOLL_CTL_DEL);
  missed_ += share->at.missed();
  errors_ += share->at.errors();
  open_.erase(share);
  return true;
}

bool AfpacketRxQueue::join(std::uint32_t number) noexcept {
  auto share =
      RingShare::adopt(borrow_kept(place_.run_dir, place_.name(number), kLenderAnswersSoon),
                       place_.index, place_.shape);
  if (!share || open_.size() == open_.capacity()) return false;
  share->ring().resume(0);
  open_.push_back({number, std::move(*share)});
  watch(open_.back().at, EPOLL_CTL_ADD);
  return true;
}

}  // namespace

std::unique_ptr<RxQueue> open_afpacket_rx(const PlanPort& port, std::uint32_t, ShareSet shares,
                                          const BufferSource& pool, const std::string& run_dir) {
  AfpacketSettings settings = afpacket_settings(port);
  settings.interface = name_now(run_dir, settings.interface);
  const std::uint32_t room = std::min(buffer_room(pool.area()), longest_frame(port.mtu));
  const std::uint32_t frame_room =
      settings.super_frames ? std::max(room, kSuperFrameBytesMax) : room;
  return std::make_unique<AfpacketRxQueue>(
      RxPlace{run_dir, port, settings, interface_index(settings.interface),
              packet_ring_shape(settings.ring, frame_room)},
      shares, room);
}

}  // namespace millrace
