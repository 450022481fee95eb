// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "io-worker/egress/egress_actor.hpp"
#include "io-worker/ingress/ingress_actor.hpp"
#include "services/classifier/function_stages.hpp"
#include "shared/control/actor_process.hpp"

/// An io-worker is one ingress (a receive queue) or one egress (a transmit queue at each port), as
/// the plan says.

namespace millrace {
namespace {

void run_ingress(ActorProcess& process) {
  const bool restarted = process.restarted();
  process.enrol();
  const std::uint32_t number = process.actor().index;
  const PlanStream& stream = process.plan().streams[number];
  BufferPool pool(process.context(), number);
  const auto queue =
      open_rx_queue(process.plan().ports[stream.port], stream.queue, pool, restarted);
  IngressActor ingress(process.context(), number, pool, *queue);
  process.run(ingress, queue->remark());
}

void run_egress(ActorProcess& process) {
  const bool restarted = process.restarted();
  FunctionStages functions(process.context());
  process.enrol();
  TxQueues ports = open_tx_queues(process.plan(), process.actor().index, restarted);
  EgressActor egress(process.context(), ports, functions);
  process.run(egress);
}

void run(int argc, char** argv) {
  ActorProcess process(argc, argv, "Millrace io-worker: an ingress or an egress, as the plan says");
  if (process.actor().kind == ActorKind::kIngress) {
    run_ingress(process);
  } else {
    run_egress(process);
  }
}

}  // namespace
}  // namespace millrace

int main(int argc, char** argv) {
  return millrace::main_of("millrace-io-worker", millrace::run, argc, argv);
}
