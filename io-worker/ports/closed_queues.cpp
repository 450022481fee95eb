// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/closed_queues.hpp"

#include <unistd.h>

namespace millrace {
namespace {

constexpr std::size_t kWhyMax = 80;  // so that an event has room for what comes behind

TroubleText trouble_of(std::string_view why, const char* so) {
  TroubleText text;
  text.add_end(why, kWhyMax);
  text.add("; %s is restarted (kill %d)", so, ::getpid());
  return text;
}

class ClosedRxQueue final : public RxQueue {
 public:
  explicit ClosedRxQueue(std::string_view why)
      : trouble_(trouble_of(why, "not read until the ingress")) {}

  std::uint32_t poll(BufferSource&, std::span<RxPacket>) noexcept override { return 0; }
  void resume(std::uint64_t) noexcept override {}
  bool exhausted() const noexcept override { return true; }
  std::uint64_t next_ready_ns() const noexcept override { return 0; }
  int wait_descriptor() noexcept override { return -1; }
  std::uint32_t held() const noexcept override { return 0; }
  std::uint64_t errors() const noexcept override { return 1; }
  TroubleText trouble() const noexcept override { return trouble_; }

 private:
  const TroubleText trouble_;
};

class ClosedTxQueue final : public TxQueue {
 public:
  explicit ClosedTxQueue(std::string_view why)
      : trouble_(trouble_of(why, "what is sent is dropped as no_output until the egress")) {}

  std::uint32_t send(std::span<const TxPacket>) noexcept override { return 0; }
  bool failed() const noexcept override { return true; }
  TroubleText trouble() const noexcept override { return trouble_; }

 private:
  const TroubleText trouble_;
};

}  // namespace

std::unique_ptr<RxQueue> closed_rx(std::string_view why) {
  return std::make_unique<ClosedRxQueue>(why);
}

std::unique_ptr<TxQueue> closed_tx(std::string_view why) {
  return std::make_unique<ClosedTxQueue>(why);
}

}  // namespace millrace
