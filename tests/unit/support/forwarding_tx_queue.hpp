// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "io-worker/ports/port.hpp"

namespace millrace::test {

/// Hands all on to the queue behind it, but how packets are sent: that is for derived classes. It
/// reads no batches: each packet goes through send().
class ForwardingTxQueue : public TxQueue {
 public:
  explicit ForwardingTxQueue(std::unique_ptr<TxQueue> queue) : queue_(std::move(queue)) {}

  bool waits_when_full() const noexcept override { return queue_->waits_when_full(); }
  bool failed() const noexcept override { return queue_->failed(); }
  TroubleText trouble() const noexcept override { return queue_->trouble(); }
  bool refused() const noexcept override { return queue_->refused(); }
  void flush() noexcept override { queue_->flush(); }
  void roster_moved() noexcept override { queue_->roster_moved(); }
  bool holds_buffers() const noexcept override { return queue_->holds_buffers(); }
  std::uint32_t reclaim(std::span<std::uint32_t> out) noexcept override {
    return queue_->reclaim(out);
  }
  TxCommit* commits() noexcept override { return queue_->commits(); }

 protected:
  TxQueue& queue() noexcept { return *queue_; }

 private:
  std::unique_ptr<TxQueue> queue_;
};

}  // namespace millrace::test
