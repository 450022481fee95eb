// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/xdp_socket.hpp"

#include <sys/mman.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <thread>

#include "io-worker/ports/interface.hpp"
#include "shared/base/error.hpp"

namespace millrace {
namespace {

constexpr std::uint16_t kUsePieces = 1 << 4;  // XDP_USE_SG, younger than the headers
constexpr std::uint32_t kCompletions = 64;    // nothing is sent: the kernel wants the ring
constexpr int kBindAttempts = 200;
constexpr auto kPause = std::chrono::milliseconds(10);

}  // namespace

template <typename Value>
void XdpSocket::set(int option, const Value& value, const char* what) const {
  if (::setsockopt(socket_.get(), SOL_XDP, option, &value, sizeof value) != 0) {
    throw system_error(what, errno);
  }
}

XdpSocket::Mapping XdpSocket::map(std::uint64_t offset, std::size_t bytes) const {
  void* base = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                      socket_.get(), static_cast<off_t>(offset));
  if (base == MAP_FAILED) throw system_error("map a ring of an AF_XDP socket", errno);
  return {static_cast<std::byte*>(base), bytes};
}

XdpSocket::XdpSocket(const XdpMemory& memory, std::uint32_t ring)
    : socket_(::socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0)) {
  if (!socket_) {
    if (errno == EPERM) throw Error("an AF_XDP socket needs CAP_NET_RAW: sudo");
    throw system_error("open an AF_XDP socket (device: afpacket needs none)", errno);
  }
  xdp_umem_reg area{};
  area.addr = reinterpret_cast<std::uint64_t>(memory.base);
  area.len = memory.bytes;
  area.chunk_size = memory.chunk_bytes;
  area.flags = XDP_UMEM_UNALIGNED_CHUNK_FLAG;
  set(XDP_UMEM_REG, area, "register packet memory for AF_XDP (locked memory: ulimit -l)");
  set(XDP_UMEM_FILL_RING, ring, "make a fill ring (smaller: ring)");
  set(XDP_UMEM_COMPLETION_RING, kCompletions, "make a completion ring");
  set(XDP_RX_RING, ring, "make a receive ring (smaller: ring)");
  xdp_mmap_offsets at{};
  socklen_t bytes = sizeof at;
  if (::getsockopt(socket_.get(), SOL_XDP, XDP_MMAP_OFFSETS, &at, &bytes) != 0) {
    throw system_error("find the rings of an AF_XDP socket", errno);
  }
  fill_map_ = map(XDP_UMEM_PGOFF_FILL_RING, at.fr.desc + ring * sizeof(std::uint64_t));
  received_map_ = map(XDP_PGOFF_RX_RING, at.rx.desc + ring * sizeof(xdp_desc));
  fill_ = {fill_map_.base, at.fr, ring};
  received_ = {received_map_.base, at.rx, ring};
}

XdpSocket::~XdpSocket() {
  for (const Mapping& mapping : {fill_map_, received_map_}) {
    if (mapping.base != nullptr) ::munmap(mapping.base, mapping.bytes);
  }
}

void XdpSocket::bind(const std::string& interface, std::uint32_t queue, bool pieces) {
  sockaddr_xdp address{};
  address.sxdp_family = AF_XDP;
  address.sxdp_flags =
      static_cast<std::uint16_t>(XDP_USE_NEED_WAKEUP | (pieces ? kUsePieces : std::uint16_t{0}));
  address.sxdp_ifindex = interface_index(interface);
  address.sxdp_queue_id = queue;
  for (int attempt = 0; attempt < kBindAttempts; ++attempt) {
    const auto* generic = reinterpret_cast<const sockaddr*>(&address);
    if (::bind(socket_.get(), generic, sizeof address) == 0) return;
    if (errno != EBUSY) break;
    std::this_thread::sleep_for(kPause);
  }
  const std::string what =
      "bind an AF_XDP socket to receive queue " + std::to_string(queue) + " of " + interface;
  if (pieces && (errno == EINVAL || errno == EOPNOTSUPP)) {
    throw Error(what + ": frames longer than 3840 bytes need Linux 6.6: lower the port's mtu");
  }
  throw system_error(what, errno);
}

bool XdpSocket::zero_copy() const noexcept {
  xdp_options options{};
  socklen_t bytes = sizeof options;
  return ::getsockopt(socket_.get(), SOL_XDP, XDP_OPTIONS, &options, &bytes) == 0 &&
         (options.flags & XDP_OPTIONS_ZEROCOPY) != 0;
}

std::uint64_t XdpSocket::dropped() const noexcept {
  xdp_statistics counted{};
  socklen_t bytes = sizeof counted;
  if (::getsockopt(socket_.get(), SOL_XDP, XDP_STATISTICS, &counted, &bytes) != 0) return 0;
  return counted.rx_dropped + counted.rx_ring_full;
}

void XdpSocket::wake_kernel() const noexcept {
  ::recvfrom(socket_.get(), nullptr, 0, MSG_DONTWAIT, nullptr, nullptr);
}

}  // namespace millrace
