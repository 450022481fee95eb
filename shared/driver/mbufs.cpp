// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/driver/mbufs.hpp"

#include <algorithm>
#include <cstring>

namespace millrace {

void Mbufs::make(std::uint32_t buffer, BufferArea area, rte_mempool* pool) const noexcept {
  rte_mbuf* mbuf = at(buffer);
  std::memset(static_cast<void*>(mbuf), 0, sizeof *mbuf);
  mbuf->buf_addr = area.at(buffer);
  // Devices see the same addresses as processes (--iova-mode=va).
  rte_mbuf_iova_set(mbuf, reinterpret_cast<std::uintptr_t>(area.at(buffer)));
  mbuf->buf_len = static_cast<std::uint16_t>(std::min<std::uint32_t>(area.stride, UINT16_MAX));
  mbuf->data_off = RTE_PKTMBUF_HEADROOM;
  mbuf->port = RTE_MBUF_PORT_INVALID;
  mbuf->pool = pool;
  reset(mbuf);
}

}  // namespace millrace
