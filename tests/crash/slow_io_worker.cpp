// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include <chrono>
#include <thread>

#include "io-worker/egress/egress_actor.hpp"
#include "io-worker/ingress/ingress_actor.hpp"
#include "io-worker/loop/open_queues.hpp"
#include "services/functions/stages/function_stages.hpp"
#include "shared/control/actor_process.hpp"

/// An io-worker that stops in the middle of each burst that it sends: a kill finds a part
/// of the burst gone and a part not.

namespace millrace {
namespace {

constexpr std::chrono::milliseconds kInTheMiddle{4};

class SlowTxQueue final : public TxQueue {
 public:
  explicit SlowTxQueue(std::unique_ptr<TxQueue> queue) : queue_(std::move(queue)) {}

  std::uint32_t send(std::span<const TxPacket> packets) noexcept override {
    const std::size_t half = packets.size() / 2;
    const std::uint32_t sent = half == 0 ? 0 : queue_->send(packets.first(half));
    if (sent < half) return sent;
    std::this_thread::sleep_for(kInTheMiddle);
    return sent + queue_->send(packets.subspan(half));
  }
  bool waits_when_full() const noexcept override { return queue_->waits_when_full(); }
  bool failed() const noexcept override { return queue_->failed(); }
  void flush() noexcept override { queue_->flush(); }
  bool holds_buffers() const noexcept override { return queue_->holds_buffers(); }
  std::uint32_t reclaim(std::span<std::uint32_t> out) noexcept override {
    return queue_->reclaim(out);
  }
  TxCommit* commits() noexcept override { return queue_->commits(); }

 private:
  std::unique_ptr<TxQueue> queue_;
};

void run_ingress(ActorProcess& process) {
  const bool restarted = process.restarted();
  process.enrol();
  const std::uint32_t number = process.actor().index;
  BufferPool pool(process.context(), number);
  const auto queue = open_rx(process.context(), number, pool, restarted, process.run_dir());
  IngressActor ingress(process.context(), number, pool, *queue);
  process.run(ingress);
}

void run_egress(ActorProcess& process) {
  const bool restarted = process.restarted();
  FunctionStages functions(process.context());
  process.enrol();
  TxQueues ports;
  for (std::uint32_t i = 0; i < process.plan().ports.size(); ++i) {
    if (port_queues(process.plan().ports[i]).send == 0) continue;
    ports[i] =
        std::make_unique<SlowTxQueue>(open_tx(process.context(), i, restarted, process.run_dir()));
  }
  EgressActor egress(process.context(), ports, functions);
  process.run(egress);
}

void run(int argc, char** argv) {
  ActorProcess process(argc, argv, "An io-worker that takes its time, for tests");
  if (process.actor().kind == ActorKind::kIngress) {
    run_ingress(process);
  } else {
    run_egress(process);
  }
}

}  // namespace
}  // namespace millrace

int main(int argc, char** argv) {
  return millrace::main_of("slow-io-worker", millrace::run, argc, argv);
}
