// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include <chrono>
#include <memory>
#include <thread>
#include <utility>

#include "io-worker/io_worker.hpp"
#include "tests/unit/support/forwarding_tx_queue.hpp"

/// An io-worker that stops in the middle of each burst that it sends: a kill finds a part
/// of the burst gone and a part not.

namespace millrace {
namespace {

constexpr std::chrono::milliseconds kInTheMiddle{4};

class SlowTxQueue final : public test::ForwardingTxQueue {
 public:
  using ForwardingTxQueue::ForwardingTxQueue;

  std::uint32_t send(std::span<const TxPacket> packets) noexcept override {
    const std::size_t half = packets.size() / 2;
    const std::uint32_t sent = half == 0 ? 0 : queue().send(packets.first(half));
    if (sent < half) return sent;
    std::this_thread::sleep_for(kInTheMiddle);
    return sent + queue().send(packets.subspan(half));
  }
};

void run(int argc, char** argv) {
  ActorProcess process(argc, argv, "An io-worker that takes its time, for tests");
  run_io_worker(process, [](std::unique_ptr<TxQueue> queue) {
    return std::make_unique<SlowTxQueue>(std::move(queue));
  });
}

}  // namespace
}  // namespace millrace

int main(int argc, char** argv) {
  return millrace::main_of("slow-io-worker", millrace::run, argc, argv);
}
