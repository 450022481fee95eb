// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "io-worker/driver/dpdk_process.hpp"

#include <rte_ethdev.h>

#include <algorithm>
#include <utility>

#include "io-worker/driver/dpdk_rx.hpp"
#include "io-worker/driver/dpdk_tx.hpp"
#include "shared/base/error.hpp"
#include "shared/base/run_words.hpp"
#include "shared/driver/port_args.hpp"

namespace millrace {

DpdkProcess::DpdkProcess(const ActorContext& context, std::string run_dir)
    : context_(context), run_dir_(std::move(run_dir)), mbufs_(context.segment) {
  register_buffer_handler(context, *this);
  const std::uint32_t streams = context.segment.layout().stream_count;
  for (std::uint32_t stream = 0; stream < streams; ++stream) check_pool(stream);
  if (context.plan->actors[context.me.actor].kind == ActorKind::kEgress) {
    freed_.reserve(context.segment.buffer_count());
    headers_.resize(send_headers(*context.plan).size());
  }
}

DpdkQueue DpdkProcess::queue_of(const PlanPort& port, std::uint32_t queue) const {
  const PortArgs args = port_args(port);
  DpdkQueue found{0, static_cast<std::uint16_t>(queue), args.name.starts_with("net_memif")};
  if (rte_eth_dev_get_port_by_name(args.name.c_str(), &found.port) != 0) {
    throw Error("port '" + port.name + "' (dpdk): the hub has no device '" + args.name +
                "' for this process; is the hub alive? millrace status " +
                words_for_run(context_.plan->name, run_dir_));
  }
  return found;
}

std::unique_ptr<RxQueue> DpdkProcess::open_rx(std::uint32_t stream, BufferSource& pool) {
  const PlanStream& plan = context_.plan->streams[stream];
  const PlanPort& port = context_.plan->ports[plan.port];
  stream_ = stream;
  pool_ = &pool;
  // The buffers that the hub has put into the ring.
  const std::uint32_t mark = Mark{MarkKind::kRx, stream}.word();
  for (std::uint32_t i = 0; i < plan.buffer_count; ++i) {
    held_ += context_.segment.mark(plan.buffer_first + i) == mark ? 1 : 0;
  }
  return std::make_unique<DpdkRx>(*this, context_, queue_of(port, plan.queue), plan.port);
}

std::unique_ptr<TxQueue> DpdkProcess::open_tx(std::uint32_t port, std::uint32_t number) {
  return std::make_unique<DpdkTx>(*this, context_, queue_of(context_.plan->ports[port], number),
                                  port);
}

bool DpdkProcess::take(std::uint32_t stream, std::span<std::uint32_t> out) noexcept {
  if (stream != stream_ || pool_ == nullptr) return false;
  const std::uint32_t count = pool_->take(out);
  if (count < out.size()) {
    pool_->give_back(out.first(count));
    return false;
  }
  pool_->hold(out);
  held_ += count;
  return true;
}

void DpdkProcess::put(std::uint32_t stream, std::span<const std::uint32_t> buffers) noexcept {
  MILLRACE_CHECK(pool_ != nullptr && stream == stream_);
  pool_->give_back(buffers);
  held_ -= static_cast<std::uint32_t>(buffers.size());
}

void DpdkProcess::open_send_pool(std::uint32_t queue) {
  rte_mempool* const pool = find_send_pool(queue);
  forget_own_cache(*pool);
  send_pools_.push_back(pool);
}

std::vector<rte_mbuf*>& DpdkProcess::all_headers(std::uint32_t queue) {
  gather_sent();  // else headers of this queue would be listed twice
  const SendHeaders about = send_headers(*context_.plan)[queue];
  std::vector<rte_mbuf*>& headers = headers_[queue];
  headers.clear();
  for (std::uint32_t i = about.count; i-- > 0;) headers.push_back(mbufs_.sending(about.first + i));
  return headers;
}

void DpdkProcess::put_sent(std::uint32_t queue, std::span<rte_mbuf* const> headers) noexcept {
  MILLRACE_CHECK(queue < headers_.size());
  MILLRACE_CHECK(headers.size() <= freed_.capacity() - freed_.size());
  headers_[queue].insert(headers_[queue].end(), headers.begin(), headers.end());
  const std::size_t before = freed_.size();
  freed_.resize(before + headers.size());
  std::transform(headers.begin(), headers.end(),
                 freed_.begin() + static_cast<std::ptrdiff_t>(before), Mbufs::sent_buffer);
}

std::uint32_t DpdkProcess::reclaim(std::span<std::uint32_t> out) noexcept {
  gather_sent();
  const std::size_t count = std::min(out.size(), freed_.size());
  // The newest buffers first: they are still in the cache.
  std::copy(freed_.end() - static_cast<std::ptrdiff_t>(count), freed_.end(), out.begin());
  freed_.resize(freed_.size() - count);
  return static_cast<std::uint32_t>(count);
}

}  // namespace millrace
