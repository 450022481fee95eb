// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/if_xdp.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "shared/base/unique_fd.hpp"

namespace millrace {

/// One side of an AF_XDP ring: the kernel has the other one. T: std::uint64_t (fill, completion) or
/// xdp_desc. The view does not own the mapping.
template <typename T>
class XdpRing {
 public:
  XdpRing() = default;
  XdpRing(std::byte* base, const xdp_ring_offset& at, std::uint32_t size)
      : producer_(reinterpret_cast<std::uint32_t*>(base + at.producer)),
        consumer_(reinterpret_cast<std::uint32_t*>(base + at.consumer)),
        flags_(reinterpret_cast<std::uint32_t*>(base + at.flags)),
        entries_(reinterpret_cast<T*>(base + at.desc)),
        mask_(size - 1) {}

  T& operator[](std::uint32_t index) const noexcept { return entries_[index & mask_]; }
  /// The kernel's index, with what it wrote before.
  std::uint32_t produced() const noexcept {
    return std::atomic_ref(*producer_).load(std::memory_order_acquire);
  }
  void consume_to(std::uint32_t index) const noexcept {
    std::atomic_ref(*consumer_).store(index, std::memory_order_release);
  }
  void produce_to(std::uint32_t index) const noexcept {
    std::atomic_ref(*producer_).store(index, std::memory_order_release);
  }
  bool needs_wakeup() const noexcept {
    return (std::atomic_ref(*flags_).load(std::memory_order_relaxed) & XDP_RING_NEED_WAKEUP) != 0;
  }

 private:
  std::uint32_t* producer_ = nullptr;
  std::uint32_t* consumer_ = nullptr;
  std::uint32_t* flags_ = nullptr;
  T* entries_ = nullptr;
  std::uint32_t mask_ = 0;
};

/// Where an AF_XDP socket's frames lie, and how.
struct XdpMemory {
  std::byte* base = nullptr;      ///< page-aligned
  std::size_t bytes = 0;          ///< whole pages
  std::uint32_t chunk_bytes = 0;  ///< of a frame's place: 2048..4096
};

inline constexpr std::uint32_t kXdpHeadroom = 256;  ///< bytes that the kernel leaves in a chunk
inline constexpr std::uint32_t kXdpContinued = 1;   ///< xdp_desc::options: the frame goes on

/// An AF_XDP socket that receives, with its rings mapped.
class XdpSocket {
 public:
  /// `ring`: entries of the receive and the fill ring, a power of two. Throws Error.
  XdpSocket(const XdpMemory& memory, std::uint32_t ring);
  ~XdpSocket();
  XdpSocket(const XdpSocket&) = delete;  // it has mappings
  XdpSocket& operator=(const XdpSocket&) = delete;

  /// `pieces`: frames may be longer than a chunk. Waits for up to 2 s for an earlier life's socket
  /// to be cleared away. Throws Error.
  void bind(const std::string& interface, std::uint32_t queue, bool pieces);
  /// After bind(): the driver writes into the memory itself; else the kernel copies.
  bool zero_copy() const noexcept;
  /// Frames for which there was no room, since the start.
  std::uint64_t dropped() const noexcept;
  /// The driver asked to be called when there is something in the fill ring.
  void wake_kernel() const noexcept;

  const UniqueFd& descriptor() const { return socket_; }
  const XdpRing<std::uint64_t>& fill() const { return fill_; }
  const XdpRing<xdp_desc>& received() const { return received_; }

 private:
  struct Mapping {
    std::byte* base = nullptr;
    std::size_t bytes = 0;
  };
  template <typename Value>
  void set(int option, const Value& value, const char* what) const;
  Mapping map(std::uint64_t offset, std::size_t bytes) const;

  UniqueFd socket_;
  Mapping fill_map_, received_map_;
  XdpRing<std::uint64_t> fill_;
  XdpRing<xdp_desc> received_;
};

}  // namespace millrace
