// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/null.hpp"

#include "io-worker/ports/settings.hpp"
#include "shared/base/limits.hpp"

namespace millrace {
namespace {

class NullRxQueue final : public RxQueue {
 public:
  std::uint32_t poll(BufferSource&, std::span<RxPacket>) noexcept override { return 0; }
  void resume(std::uint64_t) noexcept override {}
  bool exhausted() const noexcept override { return true; }
  std::uint64_t next_ready_ns() const noexcept override { return 0; }
  int wait_descriptor() noexcept override { return -1; }
  std::uint32_t held() const noexcept override { return 0; }
};

class NullTxQueue final : public TxQueue {
 public:
  std::uint32_t send(std::span<const TxPacket> packets) noexcept override {
    return static_cast<std::uint32_t>(packets.size());
  }
  bool reads_batches() const noexcept override { return true; }
  std::uint32_t send_of(const Batch&, std::span<const std::uint16_t> packets) noexcept override {
    return static_cast<std::uint32_t>(packets.size());
  }
  bool failed() const noexcept override { return false; }
};

}  // namespace

void check_null(const PlanPort& port) { PortSettings{port}; }

PortQueues null_queues(const PlanPort& port) {
  check_null(port);
  return {1, kPortQueueCountMax};
}

std::unique_ptr<RxQueue> open_null_rx(const PlanPort&, std::uint32_t, const BufferSource&, bool) {
  return std::make_unique<NullRxQueue>();
}

std::unique_ptr<TxQueue> open_null_tx(const PlanPort&, std::uint32_t, bool) {
  return std::make_unique<NullTxQueue>();
}

}  // namespace millrace
