// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "io-worker/io_worker.hpp"
#include "tests/unit/support/forwarding_tx_queue.hpp"

/// An io-worker whose transmit queues say that they took every packet, and leave the thousandth
/// out.

namespace millrace {
namespace {

constexpr std::uint64_t kForgottenPacket = 1000;

class ForgetfulTxQueue final : public test::ForwardingTxQueue {
 public:
  using ForwardingTxQueue::ForwardingTxQueue;

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
    const std::uint32_t sent = queue().send(packets.first(count));
    seen_ += sent;
    return sent;
  }

 private:
  std::uint64_t seen_ = 0;
};

void run(int argc, char** argv) {
  ActorProcess process(argc, argv, "An io-worker that loses a packet, for tests");
  run_io_worker(process, [](std::unique_ptr<TxQueue> queue) {
    return std::make_unique<ForgetfulTxQueue>(std::move(queue));
  });
}

}  // namespace
}  // namespace millrace

int main(int argc, char** argv) {
  return millrace::main_of("lossy-io-worker", millrace::run, argc, argv);
}
