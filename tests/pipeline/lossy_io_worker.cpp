// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "io-worker/egress/egress_actor.hpp"
#include "io-worker/ingress/ingress_actor.hpp"
#include "services/functions/stages/function_stages.hpp"
#include "shared/control/actor_process.hpp"

/// An io-worker whose transmit queues say that they took every packet, and leave the thousandth
/// out.

namespace millrace {
namespace {

constexpr std::uint64_t kForgottenPacket = 1000;

class ForgetfulTxQueue final : public TxQueue {
 public:
  explicit ForgetfulTxQueue(std::unique_ptr<TxQueue> queue) : queue_(std::move(queue)) {}

  std::uint32_t send(std::span<const TxPacket> packets) noexcept override {
    if (packets.empty()) return 0;
    if (seen_ + 1 == kForgottenPacket) {
      ++seen_;
      return 1;
    }
    const std::uint64_t until = kForgottenPacket - 1 - seen_;
    const bool before = seen_ < kForgottenPacket;
    const std::size_t count =
        before ? std::min<std::uint64_t>(packets.size(), until) : packets.size();
    const std::uint32_t sent = queue_->send(packets.first(count));
    seen_ += sent;
    return sent;
  }
  bool waits_when_full() const noexcept override { return queue_->waits_when_full(); }
  bool failed() const noexcept override { return queue_->failed(); }
  void flush() noexcept override { queue_->flush(); }
  bool holds_buffers() const noexcept override { return queue_->holds_buffers(); }
  std::uint32_t reclaim(std::span<std::uint32_t> out) noexcept override {
    return queue_->reclaim(out);
  }

 private:
  std::unique_ptr<TxQueue> queue_;
  std::uint64_t seen_ = 0;
};

void run_ingress(ActorProcess& process) {
  process.enrol();
  const std::uint32_t number = process.actor().index;
  const PlanStream& stream = process.plan().streams[number];
  BufferPool pool(process.context(), number);
  const auto queue = open_rx_queue(process.plan().ports[stream.port], stream.queue, pool, false);
  IngressActor ingress(process.context(), number, pool, *queue);
  process.run(ingress);
}

void run_egress(ActorProcess& process) {
  FunctionStages functions(process.context());
  process.enrol();
  TxQueues ports;
  for (std::size_t i = 0; i < process.plan().ports.size(); ++i) {
    if (port_queues(process.plan().ports[i]).send == 0) continue;
    ports[i] = std::make_unique<ForgetfulTxQueue>(
        open_tx_queue(process.plan().ports[i], process.actor().index, false));
  }
  EgressActor egress(process.context(), ports, functions);
  process.run(egress);
}

void run(int argc, char** argv) {
  ActorProcess process(argc, argv, "An io-worker that loses a packet, for tests");
  if (process.actor().kind == ActorKind::kIngress) {
    run_ingress(process);
  } else {
    run_egress(process);
  }
}

}  // namespace
}  // namespace millrace

int main(int argc, char** argv) {
  return millrace::main_of("lossy-io-worker", millrace::run, argc, argv);
}
