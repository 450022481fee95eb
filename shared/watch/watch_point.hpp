// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "shared/layout/batch.hpp"
#include "shared/watch/watch_file.hpp"

/// Shows the batches of a process's data thread to watchers. Without a watcher it costs a load and
/// a branch a batch. The control thread looks for watch files and maps them; the data thread takes
/// over new ones between two turns of its loop, and acknowledges that before old ones are unmapped.

namespace millrace {

/// A packet as it is shown.
struct Seen {
  std::span<const std::byte> bytes;
  std::uint32_t wire_length = 0;
  std::uint64_t time_tsc = 0;
  Verdict verdict = Verdict::kPass;
  Reason reason = Reason::kNone;
};

/// The wish of one watcher, mapped by one process.
class Watch {
 public:
  explicit Watch(WatchFile file);

  const WatchHeader& points() const noexcept { return points_; }
  /// Copies the packet into the ring of `actor` if the filter takes it, or counts it as missed.
  void show(std::uint32_t actor, std::uint8_t point, const Seen& seen) noexcept;
  /// Begins to follow packets of a batch that leaves its ingress: those that the filter takes, as
  /// long as there are some to be chosen. Returns the mark, or null when it follows none of it.
  const TraceMark* choose(std::uint32_t stream, std::uint32_t slot, const Batch& batch) noexcept;
  /// The mark of a batch of which packets are followed; null: of none.
  const TraceMark* mark(std::uint32_t slot, std::uint64_t generation) const noexcept;
  void show_step(const TraceStep& step, const WatchRecord& about) noexcept;
  bool watched() const noexcept { return file_.watched(); }
  /// Control thread: tells the watcher that the actor's data thread shows what it has.
  void attached(std::uint32_t actor, std::uint32_t incarnation) noexcept;

 private:
  void put(std::uint32_t actor, WatchRecord record, std::span<const std::byte> bytes) noexcept;

  WatchFile file_;
  std::uint32_t chosen_ = 0;  ///< packets that are followed, or were
  WatchHeader points_;        ///< a copy: the watcher may write to its own
  std::vector<std::uint64_t> filter_;
};

class WatchPoint {
 public:
  WatchPoint() = default;
  WatchPoint(const WatchPoint&) = delete;  // contexts point to it

  // Data thread.

  /// Between two turns.
  void turn() noexcept {
    const Watches* wanted = wanted_.load(std::memory_order_acquire);
    if (wanted == held_) [[likely]]
      return;
    held_ = wanted;
    told_.store(wanted, std::memory_order_release);
  }
  /// True when a process watches.
  bool on() const noexcept { return held_ != nullptr; }
  /// The following do nothing unless a watcher looks at their point. `actor`: the one that shows.
  void port_in(std::uint32_t actor, std::uint32_t port, const Seen& seen) const noexcept;
  void port_out(std::uint32_t actor, std::uint32_t port, const Seen& seen) const noexcept;
  void dropped(std::uint32_t actor, const Seen& seen) const noexcept;
  /// All packets of the batch, also those that are dropped already.
  void link(std::uint32_t actor, std::uint32_t link, const Batch& batch) const noexcept;

  /// A batch leaves its ingress: packets of it may be chosen to be followed. `since_tsc`: arrival
  /// of its first packet.
  void sealed(std::uint32_t actor, std::uint32_t port, std::uint32_t slot,
              const Batch& batch) const noexcept;
  /// True when a watcher follows packets of this batch: only then steps are reported.
  bool follows(std::uint32_t slot, std::uint64_t generation) const noexcept;
  struct Step {
    TraceKind kind = TraceKind::kSent;
    std::uint32_t number = kNoNumber;         ///< released: port of packets without an output
    std::uint64_t since_tsc = 0;              ///< 0: now
    std::span<const std::uint32_t> results;   ///< function: a word for each packet of the batch
    std::span<const std::uint16_t> selected;  ///< function: which took part
  };
  /// Reports a step of the followed packets of the batch, which ends now. The batch is this
  /// thread's.
  void step(std::uint32_t actor, std::uint32_t slot, const Batch& batch,
            const Step& step) const noexcept;
  /// The same for a GPU worker, which owns no batch: nothing is said of the packets.
  void device_step(std::uint32_t actor, std::uint32_t slot, std::uint64_t generation,
                   std::uint32_t stream, std::uint32_t lane,
                   std::uint64_t since_tsc) const noexcept;

  // Control thread.

  /// Names an actor for look(). Called once for each actor of the process, before the first look.
  void serve(const std::string& topology, std::uint32_t actor_count, std::uint32_t actor,
             std::uint32_t incarnation);
  /// Finds new watches, and drops those whose watcher has died. Called every 100 ms or so, as it
  /// makes system calls.
  void look() noexcept;

 private:
  using Watches = std::array<Watch*, kWatchCountMax>;
  struct Served {
    std::uint32_t actor, incarnation;
  };
  bool look_at(std::uint32_t number);
  void publish();
  void settle() noexcept;

  const Watches* held_ = nullptr;
  alignas(kCacheLine) std::atomic<const Watches*> wanted_{nullptr};
  std::atomic<const Watches*> told_{nullptr};  ///< held_, as the data thread says

  std::string topology_;
  std::uint32_t actor_count_ = 0;
  std::vector<Served> served_;
  std::array<std::unique_ptr<Watch>, kWatchCountMax> watches_;
  std::vector<std::unique_ptr<Watch>> ended_;  ///< may still be shown to
  std::unique_ptr<Watches> list_, old_list_;
  bool changing_ = false;  ///< the data thread has not taken over list_ yet
};

}  // namespace millrace
