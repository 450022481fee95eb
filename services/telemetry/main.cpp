// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <ctime>
#include <memory>
#include <string>

#include "services/telemetry/exporter.hpp"
#include "services/telemetry/status_collectable.hpp"
#include "shared/base/clock.hpp"
#include "shared/base/error.hpp"
#include "shared/base/say.hpp"
#include "shared/config/plan_settings.hpp"
#include "shared/control/actor_process.hpp"
#include "shared/control/beat_file.hpp"
#include "shared/control/plan_file.hpp"
#include "shared/control/process_rights.hpp"
#include "shared/layout/mapping.hpp"

/// Exports counters to Prometheus. Maps the status file read-only, never the segment: it cannot see
/// a packet, and no other process waits for it.

namespace millrace {
namespace {

constexpr std::uint64_t kAttachLimitNs = 30'000'000'000;
constexpr long kAttachPauseNs = 50'000'000;
constexpr long kBeatPauseNs = 500'000'000;

/// Stop signals, taken by sigtimedwait(): no handler runs anywhere.
class StopSignals {
 public:
  StopSignals() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGTERM);
    sigaddset(&signals_, SIGINT);
    sigprocmask(SIG_BLOCK, &signals_, nullptr);
  }
  /// True when one came within `ns`.
  bool wait_ns(long ns) const {
    const timespec limit{0, ns};
    return sigtimedwait(&signals_, nullptr, &limit) > 0;
  }

 private:
  sigset_t signals_;
};

struct Attached {
  Mapping mapping;
  StatusView status;
};

Attached attach(const Plan& plan) {
  Mapping mapping = Mapping::attach_status(status_file_name(plan.name), false);
  const StatusView status = StatusView::attach(mapping.base(), mapping.bytes(), plan);
  return {std::move(mapping), status};
}

/// Waits for the hub to make the file. Empty when a stop signal came first.
std::unique_ptr<Attached> attach_when_ready(const Plan& plan, const StopSignals& stop) {
  const std::uint64_t until = monotonic_ns() + kAttachLimitNs;
  for (;;) {
    try {
      return std::make_unique<Attached>(attach(plan));
    } catch (const Error&) {
      if (monotonic_ns() > until) throw;
    }
    if (stop.wait_ns(kAttachPauseNs)) return nullptr;
  }
}

/// Announces the exporter to Prometheus. If it cannot write beside the run directory it is scraped
/// all the same, by the address in the run directory.
void announce(const Exporter& exporter, const std::string& topology) {
  try {
    exporter.announce(topology);
  } catch (const Error& error) {
    say("telemetry", std::string("Prometheus does not find this by itself: ") + error.what());
  }
}

/// The driver's library, for a topology that uses GPUs only.
std::unique_ptr<Nvml> nvml_for(const Plan& plan) {
  for (const PlanGroup& group : plan.groups) {
    if (group.kind == GroupKind::kGpu && gpu_of_worker(group, 0)) return Nvml::load();
  }
  return nullptr;
}

void run(int argc, char** argv) {
  const std::string run_dir = run_dir_argument(
      argc, argv, "Millrace telemetry: counters of a topology for Prometheus, at GET /metrics");
  const StopSignals stop;
  const Plan plan = load_plan(plan_path(run_dir));
  const std::unique_ptr<Attached> attached = attach_when_ready(plan, stop);
  if (attached == nullptr) return;
  // Before NVML and the server start threads.
  give_up_capabilities(capabilities_of_telemetry(plan), run_dir);
  const auto metrics =
      std::make_shared<StatusCollectable>(plan, attached->status, run_dir, nvml_for(plan));
  Exporter exporter(plan.telemetry_listen, run_dir);
  exporter.serve(metrics);
  announce(exporter, plan.name);
  const BeatFile beats(beat_path(run_dir, "telemetry"));
  filter_system_calls(system_calls_of_telemetry(plan));
  while (!stop.wait_ns(kBeatPauseNs)) beats.beat();
  std::_Exit(0);  // nothing is left to be saved
}

}  // namespace
}  // namespace millrace

int main(int argc, char** argv) {
  return millrace::main_of("millrace-telemetry", millrace::run, argc, argv);
}
