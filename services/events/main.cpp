// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <poll.h>

#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "services/events/event_pump.hpp"
#include "shared/base/clock.hpp"
#include "shared/base/due.hpp"
#include "shared/base/error.hpp"
#include "shared/control/actor_process.hpp"
#include "shared/control/asked_signals.hpp"
#include "shared/control/beat_file.hpp"
#include "shared/control/new_plans.hpp"
#include "shared/control/plan_file.hpp"
#include "shared/control/process_rights.hpp"
#include "shared/control/whole_file.hpp"
#include "shared/layout/mapping.hpp"
#include "shared/layout/status_layout.hpp"

/// Writes the records of functions to a file, a Unix socket and a collector of IPFIX. Maps the
/// status file read-only but for the rings, never the segment. If it dies or is slow, records are
/// lost; no packet is touched.

namespace millrace {
namespace {

constexpr std::uint64_t kSecondNs = 1'000'000'000;
constexpr std::uint64_t kBeatPauseNs = 500'000'000;
constexpr std::uint64_t kLookPauseNs = 1'000'000'000;
constexpr std::uint64_t kLeaveNs = 1'000'000'000;  ///< for clients to take the last lines
constexpr int kQuietMs = 20;                       ///< between two looks into empty rings

class Service {
 public:
  explicit Service(const std::string& run_dir)
      : run_dir_(run_dir),
        plan_(plan_with_events(run_dir)),
        layout_(status_layout(plan_)),
        status_(Mapping::attach_status(status_file_name(plan_.name), false)),
        part_(Mapping::attach_status_part(status_file_name(plan_.name), layout_.events,
                                          event_rings_bytes(layout_.event_ring_count))),
        rings_(part_.base(), layout_.event_ring_count),
        plans_(plan_path(run_dir), layout_.hash) {
    view_ = StatusView::attach(status_.base(), status_.bytes(), plan_);
    give_up_capabilities(0, run_dir);
    const PlanEvents& events = *plan_.events;
    const EventSink& sink = rings_.sink();
    const bool begun = sink.intent_ring.load(std::memory_order_acquire) != 0;
    const EventFile::Place at{sink.intent_file, sink.intent_offset};
    if (!events.file.empty()) {
      file_ = std::make_unique<EventFile>(events, begun ? at : EventFile::Place{}, life());
    }
    socket_ = std::make_unique<EventSocket>(events_socket_path(plan_, run_dir), rings_.sink());
    if (events.ipfix) ipfix_ = std::make_unique<IpfixExport>(*events.ipfix, rings_.sink());
    pump_ = std::make_unique<EventPump>(plan_, rings_, view_.header().tsc_hz, file_.get(), *socket_,
                                        ipfix_.get());
    pump_->on_unknown([this] { return plans_.next(); });
  }

  void run(const AskedSignals& signals) {
    const BeatFile beats(beat_path(run_dir_, "events"));
    write_whole_file(ready_path(), {});
    filter_system_calls({});
    Due beat(kBeatPauseNs), look(kLookPauseNs), stats(plan_.events->stats_s * kSecondNs);
    const bool tells_stats = plan_.events->stats_s != 0;
    for (bool ends = false; !ends;) {
      for (int number = signals.next(); number != 0; number = signals.next()) {
        if (number == SIGHUP && file_) file_->reopen();
        ends = ends || number == SIGTERM || number == SIGINT;
      }
      const std::uint64_t now_ns = monotonic_ns();
      if (beat.at(now_ns)) beats.beat();
      if (look.at(now_ns)) this->look();
      if (tells_stats && stats.at(now_ns)) pump_->tell_stats(view_);
      const bool quiet = pump_->turn() == 0;
      socket_->turn(now_ns);
      if (quiet && !ends) wait();
    }
    leave();
  }

 private:
  std::string ready_path() const { return run_dir_ + "/events.ready"; }

  /// The first process to be ready leaves a file, which stays as long as the topology.
  EventFile::Life life() const {
    const bool was_ready = std::filesystem::exists(ready_path());
    return was_ready ? EventFile::Life::kRestarted : EventFile::Life::kFirst;
  }

  static Plan plan_with_events(const std::string& run_dir) {
    Plan plan = load_plan(plan_path(run_dir));
    if (!plan.events) throw Error("topology '" + plan.name + "' has no section `events`");
    return plan;
  }

  void look() {
    if (file_) file_->look();
    if (auto plan = plans_.next()) pump_->use(std::move(*plan));
  }

  void wait() {
    items_.clear();
    socket_->add_to(items_);
    ::poll(items_.data(), items_.size(), kQuietMs);
  }

  /// Called at the end, after the processes that write records have ended.
  void leave() {
    while (pump_->turn() != 0) socket_->turn(monotonic_ns());
    if (plan_.events->stats_s != 0) pump_->tell_stats(view_);
    const std::uint64_t end = monotonic_ns() + kLeaveNs;
    while (!socket_->idle() && monotonic_ns() < end) {
      wait();
      socket_->turn(monotonic_ns());
    }
  }

  std::string run_dir_;
  Plan plan_;
  StatusLayout layout_;
  Mapping status_, part_;
  StatusView view_;
  EventRings rings_;
  NewPlans plans_;
  std::unique_ptr<EventFile> file_;
  std::unique_ptr<EventSocket> socket_;
  std::unique_ptr<IpfixExport> ipfix_;
  std::unique_ptr<EventPump> pump_;
  std::vector<pollfd> items_;
};

void run(int argc, char** argv) {
  const std::string run_dir = run_dir_argument(
      argc, argv, "Millrace events: what functions tell of packets, as JSON lines");
  // Also SIGXFSZ, as a file's limit is an error of write() like others.
  const AskedSignals signals({SIGTERM, SIGINT, SIGHUP, SIGXFSZ});
  Service(run_dir).run(signals);
}

}  // namespace
}  // namespace millrace

int main(int argc, char** argv) {
  return millrace::main_of("millrace-events", millrace::run, argc, argv);
}
