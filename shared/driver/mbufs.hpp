// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rte_mbuf.h>

#include <cstddef>
#include <cstdint>

#include "shared/config/plan.hpp"
#include "shared/layout/segment.hpp"

/// The headers of buffers that DPDK drivers need: two tables in the segment, at the same addresses
/// in all processes. A header outside a driver's rings is always as after reset().
///
/// - For receiving, mbuf n for buffer n. Only the hub writes addresses into them. The owner of the
///   buffer has its header.
/// - For sending, some for each transmit queue (SendHeaders). The egress points one to the buffer
///   that it sends, and has it back when the driver frees it.

namespace millrace {

class Mbufs {
 public:
  Mbufs() = default;
  explicit Mbufs(const SegmentView& segment)
      : table_(reinterpret_cast<rte_mbuf*>(segment.mbufs())),
        sending_(reinterpret_cast<rte_mbuf*>(segment.send_mbufs())),
        count_(segment.buffer_count()) {}

  rte_mbuf* at(std::uint32_t buffer) const noexcept { return table_ + buffer; }
  rte_mbuf* sending(std::uint32_t number) const noexcept { return sending_ + number; }
  /// The buffer of a header for receiving; UINT32_MAX for a header that is not ours.
  std::uint32_t number_of(const rte_mbuf* mbuf) const noexcept {
    const std::size_t bytes =
        reinterpret_cast<std::uintptr_t>(mbuf) - reinterpret_cast<std::uintptr_t>(table_);
    if (bytes >= std::size_t{count_} * kMbufBytes || bytes % kMbufBytes != 0) return UINT32_MAX;
    return static_cast<std::uint32_t>(bytes / kMbufBytes);
  }
  /// Makes the header that of an empty buffer, as drivers expect it: alone, one reference.
  static void reset(rte_mbuf* mbuf) noexcept {
    rte_mbuf_refcnt_set(mbuf, 1);
    mbuf->next = nullptr;
    mbuf->nb_segs = 1;
  }
  /// The buffer that a header for sending was pointed to.
  static std::uint32_t sent_buffer(const rte_mbuf* mbuf) noexcept { return mbuf->hash.usr; }
  static void point(rte_mbuf* mbuf, std::uint32_t buffer, std::byte* start) noexcept {
    mbuf->buf_addr = start;
    // Devices see the same addresses as processes (--iova-mode=va).
    rte_mbuf_iova_set(mbuf, reinterpret_cast<std::uintptr_t>(start));
    mbuf->hash.usr = buffer;
  }
  /// Hub, before any driver: addresses of buffer `buffer` and its pool.
  void make(std::uint32_t buffer, BufferArea area, rte_mempool* pool) const noexcept;
  /// The same for a header for sending; it points to no buffer.
  void make_sending(std::uint32_t number, BufferArea area, rte_mempool* pool) const noexcept;

 private:
  rte_mbuf* table_ = nullptr;
  rte_mbuf* sending_ = nullptr;
  std::uint32_t count_ = 0;
};

// Drivers write it with vector instructions, so its size and alignment are fixed.
static_assert(sizeof(rte_mbuf) == kMbufBytes && alignof(rte_mbuf) == 64);
static_assert(offsetof(rte_mbuf, buf_addr) == 0 && offsetof(rte_mbuf, data_off) == 16);
static_assert(offsetof(rte_mbuf, refcnt) == 18 && offsetof(rte_mbuf, nb_segs) == 20);
static_assert(offsetof(rte_mbuf, ol_flags) == 24 && offsetof(rte_mbuf, pkt_len) == 36);
static_assert(offsetof(rte_mbuf, data_len) == 40 && offsetof(rte_mbuf, buf_len) == 54);
static_assert(offsetof(rte_mbuf, pool) == 56 && offsetof(rte_mbuf, next) == 64);
static_assert(RTE_PKTMBUF_HEADROOM == kBufferHeadroom);

}  // namespace millrace
