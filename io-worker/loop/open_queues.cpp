// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/loop/open_queues.hpp"

#include "io-worker/ingress/ingress_shares.hpp"
#include "io-worker/loop/loop_rx.hpp"
#include "io-worker/loop/loop_tx.hpp"
#include "shared/config/loop.hpp"

namespace millrace {

std::unique_ptr<RxQueue> open_rx(const ActorContext& context, std::uint32_t stream,
                                 const BufferSource& pool, bool restarted,
                                 const std::string& run_dir) {
  const PlanStream& plan = context.plan->streams[stream];
  const PlanPort& port = context.plan->ports[plan.port];
  if (is_loop(port)) return std::make_unique<LoopRxQueue>(context, stream);
  return open_rx_queue(port, plan.queue, pool, restarted, run_dir,
                       IngressShares::read_by(context, stream));
}

std::unique_ptr<TxQueue> open_tx(const ActorContext& context, std::uint32_t port, bool restarted,
                                 const std::string& run_dir) {
  const PlanPort& plan = context.plan->ports[port];
  if (is_loop(plan)) return std::make_unique<LoopTxQueue>(context, port);
  const std::uint32_t number = context.plan->actors[context.me.actor].index;
  return open_tx_queue(plan, number, restarted, run_dir);
}

}  // namespace millrace
