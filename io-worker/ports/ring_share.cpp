// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/ring_share.hpp"

#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <utility>

#include "io-worker/ports/interface.hpp"
#include "shared/base/error.hpp"

namespace millrace {
namespace {

constexpr std::uint64_t kStatisticsTicks = 50'000'000;  // some 20 ms: they cost a system call

template <typename Value>
void set(const UniqueFd& socket, int option, const Value& value, const char* what) {
  if (::setsockopt(socket.get(), SOL_PACKET, option, &value, sizeof value) != 0) {
    throw system_error(what, errno);
  }
}

/// Gives the socket a ring, in place of the one that it has, which no process may have mapped.
void make_ring(const UniqueFd& socket, const PacketRingShape& shape) {
  set(socket, PACKET_RX_RING, tpacket_req{}, "give up a receive ring");
  const tpacket_req request{shape.block_bytes(), shape.blocks(), shape.frame_bytes,
                            shape.frame_count};
  set(socket, PACKET_RX_RING, request, "make a receive ring (smaller: ring)");
}

RingMemory map_new_ring(const UniqueFd& socket, const PacketRingShape& shape) {
  RingMemory memory(socket, shape.bytes());
  if (memory.base() == nullptr) throw system_error("map a receive ring", errno);
  PacketRing(memory.base(), shape).mark_as_new();
  return memory;
}

/// Gives the socket a filter, in place of the one that it has.
void filter(const UniqueFd& socket, std::span<sock_filter> words) {
  const sock_fprog program{static_cast<unsigned short>(words.size()), words.data()};
  if (::setsockopt(socket.get(), SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) != 0) {
    throw system_error("filter a packet socket", errno);
  }
}

void close_to_packets(const UniqueFd& socket) {
  std::array<sock_filter, 1> nothing = {{{BPF_RET | BPF_K, 0, 0, 0}}};
  filter(socket, nothing);
}

/// Sets a filter that takes all packets but those that this host sends. PACKET_IGNORE_OUTGOING
/// would not do: it is an option of a socket, and members of a fanout group receive by the group's
/// hook into the interface, which ignores nothing.
void open_to_packets(const UniqueFd& socket) {
  std::array<sock_filter, 4> received = {{
      {BPF_LD | BPF_W | BPF_ABS, 0, 0, static_cast<std::uint32_t>(SKF_AD_OFF + SKF_AD_PKTTYPE)},
      {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, PACKET_OUTGOING},
      {BPF_RET | BPF_K, 0, 0, 0},
      {BPF_RET | BPF_K, 0, 0, UINT32_MAX},
  }};
  filter(socket, received);
}

/// A socket is bound to none when its interface has gone.
bool is_bound_to(const UniqueFd& socket, std::uint32_t interface_index) noexcept {
  sockaddr_ll address{};
  socklen_t bytes = sizeof address;
  return ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &bytes) == 0 &&
         address.sll_ifindex > 0 && address.sll_ifindex == static_cast<int>(interface_index);
}

/// Joins the fanout group. A socket that is bound and not in the group would also get the packets
/// of the group's other members.
void join(const UniqueFd& socket, const AfpacketSettings& settings) {
  receive_all(socket, settings.interface);
  bind_packet_socket(socket, settings.interface, ETH_P_ALL);
  if (settings.shares() == 1) return;
  // Groups are numbered by namespace; interfaces too.
  const int group = 0x8000 | (interface_index(settings.interface) & 0x7fff);
  set(socket, PACKET_FANOUT, group | PACKET_FANOUT_HASH << 16, "share the interface");
}

}  // namespace

RingMemory::RingMemory(const UniqueFd& socket, std::size_t bytes) noexcept : bytes_(bytes) {
  void* base =
      ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, socket.get(), 0);
  if (base != MAP_FAILED) base_ = static_cast<std::byte*>(base);
}

RingMemory::RingMemory(RingMemory&& other) noexcept
    : bytes_(other.bytes_), base_(std::exchange(other.base_, nullptr)) {}

RingMemory& RingMemory::operator=(RingMemory&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  std::swap(base_, other.base_);
  return *this;
}

RingMemory::~RingMemory() {
  if (base_ != nullptr) ::munmap(base_, bytes_);
}

RingShare::RingShare(UniqueFd socket, RingMemory memory, const PacketRingShape& shape,
                     bool kept) noexcept
    : socket_(std::move(socket)),
      memory_(std::move(memory)),
      ring_(memory_.base(), shape),
      kept_(kept) {}

RingShare RingShare::make(const AfpacketSettings& settings, const PacketRingShape& shape) {
  UniqueFd socket = open_packet_socket();
  set(socket, PACKET_IGNORE_OUTGOING, 1, "ignore what we send ourselves (Linux 4.20 or later)");
  set(socket, PACKET_VNET_HDR, 1, "be told about checksums");
  close_to_packets(socket);
  set(socket, PACKET_VERSION, int{TPACKET_V2}, "use TPACKET_V2");
  set(socket, PACKET_RESERVE, kRingReserveBytes, "keep room in the frames of a receive ring");
  make_ring(socket, shape);
  RingMemory memory = map_new_ring(socket, shape);
  join(socket, settings);
  return {std::move(socket), std::move(memory), shape, false};
}

std::optional<RingShare> RingShare::adopt(UniqueFd socket, std::uint32_t interface_index,
                                          const PacketRingShape& shape) noexcept {
  if (!socket || !is_bound_to(socket, interface_index)) return std::nullopt;
  RingMemory memory(socket, shape.bytes());
  if (memory.base() == nullptr) return std::nullopt;
  if (!PacketRing(memory.base(), shape).is_of_this_shape()) return std::nullopt;
  return RingShare(std::move(socket), std::move(memory), shape, true);
}

void RingShare::admit() const { open_to_packets(socket_); }

void RingShare::read_statistics(std::uint64_t now_tsc, bool took) noexcept {
  took_ = took_ || took;
  if (now_tsc - statistics_read_ < kStatisticsTicks) return;
  statistics_read_ = now_tsc;
  tpacket_stats statistics{};  // since the last reading
  socklen_t bytes = sizeof statistics;
  if (::getsockopt(socket_.get(), SOL_PACKET, PACKET_STATISTICS, &statistics, &bytes) != 0) return;
  missed_ += statistics.tp_drops;
  const bool was_empty = std::exchange(empty_, ring_.is_empty());
  const bool had = std::exchange(took_, false);
  // The kernel had all frames all the time.
  const bool only_drops =
      statistics.tp_packets != 0 && statistics.tp_packets == statistics.tp_drops;
  if (only_drops && was_empty && empty_ && !had) renew_ring();
}

/// The kernel has a frame for itself that it never fills (tpacket_rcv() of Linux 5.6 and later,
/// after a segmented packet that PACKET_VNET_HDR cannot describe: UDP from another host's stack,
/// SCTP), and drops what comes with all frames free. Only another ring helps. That is a matter of
/// milliseconds, and nothing waits in this one.
void RingShare::renew_ring() noexcept {
  ++errors_;
  memory_ = RingMemory();
  make_ring(socket_, ring_.shape());
  memory_ = map_new_ring(socket_, ring_.shape());
  ring_ = PacketRing(memory_.base(), ring_.shape());
}

}  // namespace millrace
