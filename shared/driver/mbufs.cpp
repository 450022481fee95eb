// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/driver/mbufs.hpp"

#include <algorithm>
#include <cstring>

namespace millrace {
namespace {

void make_empty(rte_mbuf* mbuf, BufferArea area, rte_mempool* pool) noexcept {
  std::memset(static_cast<void*>(mbuf), 0, sizeof *mbuf);
  mbuf->buf_len = static_cast<std::uint16_t>(std::min<std::uint32_t>(area.stride, UINT16_MAX));
  mbuf->data_off = RTE_PKTMBUF_HEADROOM;
  mbuf->port = RTE_MBUF_PORT_INVALID;
  mbuf->pool = pool;
  Mbufs::reset(mbuf);
}

}  // namespace

void Mbufs::make(std::uint32_t buffer, BufferArea area, rte_mempool* pool) const noexcept {
  make_empty(at(buffer), area, pool);
  point(at(buffer), 0, area.at(buffer));
}

void Mbufs::make_sending(std::uint32_t number, BufferArea area, rte_mempool* pool) const noexcept {
  make_empty(sending(number), area, pool);
}

}  // namespace millrace
