// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <poll.h>

#include <string>
#include <utility>
#include <vector>

#include "services/routes/route_service.hpp"
#include "services/routes/status_grace.hpp"
#include "shared/base/clock.hpp"
#include "shared/base/due.hpp"
#include "shared/base/error.hpp"
#include "shared/control/actor_process.hpp"
#include "shared/control/asked_signals.hpp"
#include "shared/control/beat_file.hpp"
#include "shared/control/new_plans.hpp"
#include "shared/control/plan_file.hpp"
#include "shared/control/process_rights.hpp"
#include "shared/control/route_facts.hpp"
#include "shared/control/whole_file.hpp"
#include "shared/layout/mapping.hpp"

/// Copies the kernel's routes into the live tables of a topology. Maps the status file read-only,
/// and the tables; never the segment. Without it tables stay as they are, and packets go on.

namespace millrace {
namespace {

constexpr std::uint64_t kBeatPauseNs = 500'000'000;
constexpr std::uint64_t kLookPauseNs = 100'000'000;
constexpr std::uint64_t kNotePauseNs = 1'000'000'000;

/// Writes the facts of the tables for observers, when they have changed.
class FactsFile {
 public:
  explicit FactsFile(std::string run_dir) : run_dir_(std::move(run_dir)) {}
  void note(std::vector<RouteFacts> facts) {
    if (facts == noted_) return;
    try {
      note_routes(run_dir_, facts);
      noted_ = std::move(facts);
    } catch (const Error&) {
      return;  // a full disk: tried again with the next look
    }
  }

 private:
  std::string run_dir_;
  std::vector<RouteFacts> noted_;
};

void serve(const std::string& run_dir, const AskedSignals& signals) {
  const Plan plan = load_plan(plan_path(run_dir));
  const Mapping status = Mapping::attach_status(status_file_name(plan.name), false);
  StatusGrace grace(plan, StatusView::attach(status.base(), status.bytes(), plan));
  const BeatFile beats(beat_path(run_dir, "routes"));
  Due beat(kBeatPauseNs), look(kLookPauseNs), note(kNotePauseNs);
  FactsFile facts(run_dir);
  const auto alive = [&] {
    if (beat.at(monotonic_ns())) beats.beat();
  };
  NewPlans plans(plan_path(run_dir), status_layout(plan).hash);
  RouteService service(grace, run_dir, alive);
  give_up_capabilities(0, run_dir);
  service.use(plan);
  service.turn(monotonic_ns());
  write_whole_file(run_dir + "/routes.ready", {});
  filter_system_calls({.network = true});
  while (signals.next() == 0) {
    alive();
    if (look.at(monotonic_ns())) {
      if (const auto changed = plans.next()) service.use(*changed);
    }
    if (note.at(monotonic_ns())) facts.note(service.facts());
    if (!service.turn(monotonic_ns())) continue;
    pollfd item{.fd = service.descriptor(), .events = POLLIN, .revents = 0};
    ::poll(&item, 1, service.wait_ms(monotonic_ns()));
  }
}

void run(int argc, char** argv) {
  const std::string run_dir = run_dir_argument(
      argc, argv, "Millrace routes: the routes of this host's kernel into tables that follow them");
  const AskedSignals signals({SIGTERM, SIGINT});
  serve(run_dir, signals);
}

}  // namespace
}  // namespace millrace

int main(int argc, char** argv) {
  return millrace::main_of("millrace-routes", millrace::run, argc, argv);
}
