// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/io_worker.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "io-worker/driver/dpdk_process.hpp"
#include "io-worker/egress/egress_actor.hpp"
#include "io-worker/ingress/ingress_actor.hpp"
#include "io-worker/loop/open_queues.hpp"
#include "services/functions/stages/function_stages.hpp"
#include "shared/actor/setup_beat.hpp"
#include "shared/driver/eal.hpp"

namespace millrace {
namespace {

/// A secondary of the hub, when the topology has DPDK ports that this actor serves.
struct Dpdk {
  explicit Dpdk(const ActorProcess& process)
      : eal(process.plan(), process.context().me.actor, process.run_dir()),
        queues(process.context(), process.run_dir()) {}
  Eal eal;
  DpdkProcess queues;
};

std::unique_ptr<Dpdk> dpdk_of(ActorProcess& process) {
  const Plan& plan = process.plan();
  const PlanActor& actor = process.actor();
  const bool ingress = actor.kind == ActorKind::kIngress;
  const bool wanted =
      ingress ? is_dpdk(plan.ports[plan.streams[actor.index].port]) : uses_dpdk(plan);
  if (!wanted) return nullptr;
  process.give_up_rights();  // before DPDK starts threads
  return std::make_unique<Dpdk>(process);
}

void run_ingress(ActorProcess& process) {
  const bool restarted = process.restarted();
  const auto dpdk = dpdk_of(process);
  process.enrol();
  std::optional<SetupBeat> beat(std::in_place, std::vector{process.context()});
  const std::uint32_t number = process.actor().index;
  BufferPool pool(process.context(), number);
  const auto queue = dpdk ? dpdk->queues.open_rx(number, pool)
                          : open_rx(process.context(), number, pool, restarted, process.run_dir());
  IngressActor ingress(process.context(), number, pool, *queue);
  ingress.tell_by([&](std::string_view text) { process.warn_of_port(text); });
  beat.reset();
  process.run(ingress, nullptr, queue->remark());
}

void run_egress(ActorProcess& process, const WrapTx& wrap) {
  const bool restarted = process.restarted();
  FunctionStages functions(process.context());
  const auto dpdk = dpdk_of(process);
  process.enrol();
  std::optional<SetupBeat> beat(std::in_place, std::vector{process.context()});
  const std::uint32_t number = process.actor().index;
  TxQueues ports;
  for (std::uint32_t i = 0; i < process.plan().ports.size(); ++i) {
    const PlanPort& port = process.plan().ports[i];
    if (port_queues(port).send == 0) continue;
    auto queue = is_dpdk(port) ? dpdk->queues.open_tx(i, number)
                               : open_tx(process.context(), i, restarted, process.run_dir());
    ports[i] = wrap ? wrap(std::move(queue)) : std::move(queue);
  }
  EgressActor egress(process.context(), ports, functions);
  egress.tell_by([&](std::string_view text) { process.warn_of_port(text); });
  beat.reset();
  process.run(egress, &functions);
}

}  // namespace

void run_io_worker(ActorProcess& process, const WrapTx& wrap) {
  if (process.actor().kind == ActorKind::kIngress) {
    run_ingress(process);
  } else {
    run_egress(process, wrap);
  }
}

}  // namespace millrace
