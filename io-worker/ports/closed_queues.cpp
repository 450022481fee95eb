// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/closed_queues.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <stop_token>
#include <system_error>
#include <thread>
#include <utility>

#include "shared/base/error.hpp"

namespace millrace {
namespace {

constexpr std::size_t kWhyMax = 80;  // so that an event has room for what comes behind

TroubleText trouble_of(std::string_view why, const char* so) {
  TroubleText text;
  text.add_end(why, kWhyMax);
  text.add("; %s until it opens (tried every 30 s; at once: kill %d)", so, ::getpid());
  return text;
}

/// Opens a queue when that can be done, by a thread of its own.
template <typename Queue>
class Reopening {
 public:
  using Open = std::function<std::unique_ptr<Queue>()>;

  Reopening(Open open, ReopenPauses pauses) : open_(std::move(open)), pauses_(pauses) {}

  /// Data thread, which waits for nothing: once.
  void begin() noexcept {
    if (thread_.joinable() || opened() != nullptr) return;
    try {
      thread_ = std::jthread([this](const std::stop_token& stop) { try_until_open(stop); });
    } catch (const std::system_error&) {
      return;  // no thread is to be had: with the next change of the roster
    }
  }
  /// Null: not yet. The data thread's from then on.
  Queue* opened() const noexcept { return opened_.load(std::memory_order_acquire); }

 private:
  void try_until_open(const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any stopped;
    for (auto pause = pauses_.first; !stop.stop_requested();
         pause = std::min(2 * pause, pauses_.longest)) {
      std::unique_lock lock(mutex);
      stopped.wait_for(lock, stop, pause, [] { return false; });
      if (stop.stop_requested() || open()) return;
    }
  }
  bool open() {
    try {
      queue_ = open_();
    } catch (const std::exception&) {  // Error, or no memory for a long file
      return false;
    }
    opened_.store(queue_.get(), std::memory_order_release);
    return true;
  }

  const Open open_;
  const ReopenPauses pauses_;
  std::unique_ptr<Queue> queue_;  ///< the thread writes it, before opened_
  std::atomic<Queue*> opened_{nullptr};
  std::jthread thread_;  ///< the last: it ends before what it uses
};

class ClosedRxQueue final : public RxQueue {
 public:
  ClosedRxQueue(std::string_view why, OpenRx open, ReopenPauses pauses)
      : trouble_(trouble_of(why, "not read")),
        reopening_(
            [this, open = std::move(open)] {
              auto queue = open();
              queue->resume(first_wanted_);
              return queue;
            },
            pauses) {}

  std::uint32_t poll(BufferSource& pool, std::span<RxPacket> out) noexcept override {
    RxQueue* const queue = reopening_.opened();
    return queue == nullptr ? 0 : queue->poll(pool, out);
  }
  /// Before the thread begins.
  void resume(std::uint64_t first_wanted) noexcept override { first_wanted_ = first_wanted; }
  void release_below(std::uint64_t ordinal) noexcept override {
    if (RxQueue* const queue = reopening_.opened()) queue->release_below(ordinal);
  }
  void rest() noexcept override {
    if (RxQueue* const queue = reopening_.opened()) queue->rest();
  }
  void roster_moved() noexcept override {
    reopening_.begin();
    if (RxQueue* const queue = reopening_.opened()) queue->roster_moved();
  }
  bool exhausted() const noexcept override {
    const RxQueue* const queue = reopening_.opened();
    return queue == nullptr || queue->exhausted();
  }
  std::uint64_t next_ready_ns() const noexcept override {
    const RxQueue* const queue = reopening_.opened();
    return queue == nullptr ? 0 : queue->next_ready_ns();
  }
  int wait_descriptor() noexcept override {
    RxQueue* const queue = reopening_.opened();
    return queue == nullptr ? -1 : queue->wait_descriptor();
  }
  std::uint32_t held() const noexcept override {
    const RxQueue* const queue = reopening_.opened();
    return queue == nullptr ? 0 : queue->held();
  }
  std::uint64_t missed() const noexcept override {
    const RxQueue* const queue = reopening_.opened();
    return queue == nullptr ? 0 : queue->missed();
  }
  std::uint64_t errors() const noexcept override {
    const RxQueue* const queue = reopening_.opened();
    return 1 + (queue == nullptr ? 0 : queue->errors());
  }
  TroubleText trouble() const noexcept override {
    const RxQueue* const queue = reopening_.opened();
    return queue == nullptr ? trouble_ : queue->trouble();
  }
  bool has_recovered() noexcept override {
    return reopening_.opened() != nullptr && !std::exchange(told_, true);
  }

 private:
  const TroubleText trouble_;
  std::uint64_t first_wanted_ = 0;
  bool told_ = false;
  Reopening<RxQueue> reopening_;  ///< the last: its thread uses the others
};

class AbsentRxQueue final : public RxQueue {
 public:
  explicit AbsentRxQueue(std::string_view interface) {
    trouble_.add("interface '%.*s' is gone; read again when it is back",
                 static_cast<int>(interface.size()), interface.data());
  }

  std::uint32_t poll(BufferSource&, std::span<RxPacket>) noexcept override { return 0; }
  void resume(std::uint64_t) noexcept override {}
  bool exhausted() const noexcept override { return false; }
  std::uint64_t next_ready_ns() const noexcept override { return kRestNs; }
  int wait_descriptor() noexcept override { return -1; }
  std::uint32_t held() const noexcept override { return 0; }
  std::uint64_t errors() const noexcept override { return 1; }
  TroubleText trouble() const noexcept override { return trouble_; }

 private:
  static constexpr std::uint64_t kRestNs = 10'000'000;  // nothing will come
  TroubleText trouble_;
};

class ClosedTxQueue final : public TxQueue {
 public:
  ClosedTxQueue(std::string_view why, OpenTx open, ReopenPauses pauses)
      : trouble_(trouble_of(why, "what is sent is dropped as no_output")),
        reopening_(std::move(open), pauses) {}

  std::uint32_t send(std::span<const TxPacket> packets) noexcept override {
    TxQueue* const queue = reopening_.opened();
    return queue == nullptr ? 0 : queue->send(packets);
  }
  bool reads_batches() const noexcept override {
    const TxQueue* const queue = reopening_.opened();
    return queue != nullptr && queue->reads_batches();
  }
  std::uint32_t send_of(const Batch& batch,
                        std::span<const std::uint16_t> packets) noexcept override {
    TxQueue* const queue = reopening_.opened();
    return queue == nullptr ? 0 : queue->send_of(batch, packets);
  }
  bool waits_when_full() const noexcept override {
    const TxQueue* const queue = reopening_.opened();
    return queue != nullptr && queue->waits_when_full();
  }
  bool failed() const noexcept override {
    const TxQueue* const queue = reopening_.opened();
    return queue == nullptr || queue->failed();
  }
  TroubleText trouble() const noexcept override {
    const TxQueue* const queue = reopening_.opened();
    return queue == nullptr ? trouble_ : queue->trouble();
  }
  bool refused() const noexcept override {
    const TxQueue* const queue = reopening_.opened();
    return queue != nullptr && queue->refused();
  }
  void flush() noexcept override {
    if (TxQueue* const queue = reopening_.opened()) queue->flush();
  }
  void roster_moved() noexcept override {
    reopening_.begin();
    if (TxQueue* const queue = reopening_.opened()) queue->roster_moved();
  }

 private:
  const TroubleText trouble_;
  Reopening<TxQueue> reopening_;
};

}  // namespace

std::unique_ptr<RxQueue> closed_rx(std::string_view why, OpenRx open, ReopenPauses pauses) {
  return std::make_unique<ClosedRxQueue>(why, std::move(open), pauses);
}

std::unique_ptr<RxQueue> absent_rx(std::string_view interface) {
  return std::make_unique<AbsentRxQueue>(interface);
}

std::unique_ptr<TxQueue> closed_tx(std::string_view why, OpenTx open, ReopenPauses pauses) {
  return std::make_unique<ClosedTxQueue>(why, std::move(open), pauses);
}

}  // namespace millrace
