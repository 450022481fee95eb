// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "io-worker/ports/port.hpp"
#include "orchestration/cli/commands.hpp"
#include "orchestration/cli/failure.hpp"
#include "orchestration/cli/json_text.hpp"
#include "orchestration/cli/running.hpp"
#include "orchestration/cli/sgr.hpp"
#include "orchestration/cli/topology_file.hpp"
#include "orchestration/doctor/doctor.hpp"

namespace millrace {
namespace {

using Json = nlohmann::ordered_json;

struct DoctorOptions {
  std::string file;
  bool fix = false;
  bool json = false;
};

struct HealthName {
  const char* name;
  const char* colour;
};
constexpr HealthName kHealthNames[] = {
    {"ok", sgr::kGreen}, {"note", sgr::kDim}, {"warning", sgr::kYellow}, {"problem", sgr::kRed}};

const HealthName& name_of(Health health) { return kHealthNames[static_cast<std::size_t>(health)]; }

std::string finding_text(const Finding& finding, bool colour) {
  constexpr std::size_t kCheckWidth = 24;
  const HealthName& health = name_of(finding.health);
  std::string word(health.name);
  word.resize(9, ' ');
  std::string check = finding.check + " ";
  if (check.size() < kCheckWidth) check.resize(kCheckWidth, ' ');
  std::string text = (colour ? health.colour + word + sgr::kPlain : word) + check + finding.found;
  if (!finding.mend.empty()) text += "\n           " + finding.mend;
  return text + "\n";
}

Json finding_json(const Finding& finding) {
  return {{"check", finding.check},
          {"health", name_of(finding.health).name},
          {"found", finding.found},
          {"mend", finding.mend},
          {"can_fix", finding.remedy != Remedy::kNone}};
}

std::string state_file() {
  const char* given = std::getenv("MILLRACE_HOST_STATE");
  return given != nullptr ? given : "/run/millrace-host.state";
}

Needs needs_of_file(const std::string& file) {
  if (file.empty()) return {};
  const Plan plan = read_topology_file(file, this_host()).plan;
  Needs needs = needs_of(plan);
  const HostFiles host;
  for (const PlanPort& port : plan.ports) {
    const auto wish = interface_wish(port);
    if (!wish || !host.exists("/sys/class/net/" + wish->interface)) continue;
    needs.offloads[wish->interface] = offloads_of(*wish);
    if (const auto trouble = address_trouble(port, *wish)) {
      needs.addresses[wish->interface] = *trouble;
    }
  }
  return needs;
}

/// One after the other: pages held by killed runs are free before any are reserved.
std::vector<std::string> fix_all(const Needs& needs) {
  std::vector<std::string> done;
  for (const Remedy remedy :
       {Remedy::kRemoveLeftovers, Remedy::kMountHugetlbfs, Remedy::kHugePages}) {
    for (const Finding& finding : examine(HostFiles(), needs)) {
      if (finding.remedy == remedy) done.push_back(mend(finding, state_file()));
    }
  }
  return done;
}

void run_doctor(const DoctorOptions& options) {
  const Needs needs = needs_of_file(options.file);
  std::vector<std::string> done;
  if (options.fix) done = fix_all(needs);
  const std::vector<Finding> findings = examine(HostFiles(), needs);
  std::size_t problems = 0, fixable = 0;
  for (const Finding& finding : findings) {
    problems += finding.health == Health::kProblem ? 1 : 0;
    fixable += finding.remedy != Remedy::kNone ? 1 : 0;
  }
  if (options.json) {
    Json json = {{"ok", problems == 0}, {"done", done}, {"findings", Json::array()}};
    for (const Finding& finding : findings) json["findings"].push_back(finding_json(finding));
    std::cout << json_text(json) << '\n';
  } else {
    for (const std::string& what : done) std::cout << "did      " << what << '\n';
    for (const Finding& finding : findings) {
      std::cout << finding_text(finding, wants_colour(STDOUT_FILENO));
    }
    std::cout << '\n'
              << problems << (problems == 1 ? " problem" : " problems")
              << (options.file.empty() ? " for a small topology" : " for " + options.file);
    if (fixable != 0) std::cout << "; millrace doctor --fix does what is harmless";
    std::cout << '\n';
  }
  if (problems != 0) throw CLI::RuntimeError(kExitInvalid);
}

}  // namespace

void add_doctor(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("doctor", "check this host: what it lacks, and the command that mends it");
  auto options = std::make_shared<DoctorOptions>();
  command->add_option("file", options->file, "a topology, YAML: look for what it needs");
  command->add_flag("--fix", options->fix,
                    "reserve huge pages, mount hugetlbfs for DPDK, remove files of killed runs");
  command->add_flag("--json", options->json, "the findings as JSON");
  command->callback([options] {
    run_command(options->json ? Format::kJson : Format::kText, [&] { run_doctor(*options); });
  });
}

}  // namespace millrace
