// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The loader and the planner take any text, and any texts that it includes or reads secrets from: a
// topology that is accepted has a plan or a reason why not, the plan can be printed, and no output
// shows a secret. The files of a topology follow each other, each but the first behind a line "==
// NAME".

#include <map>
#include <string>
#include <utility>

#include "orchestration/planner/loader.hpp"
#include "orchestration/planner/plan_printer.hpp"
#include "orchestration/planner/planner.hpp"
#include "shared/base/check.hpp"
#include "shared/base/error.hpp"

namespace millrace {
namespace {

constexpr KnownSetting kKeys[] = {
    {.name = "table", .kind = SettingKind::kInputFile, .list = true, .required = true},
    {.name = "limit", .kind = SettingKind::kInteger, .high = 10},
    {.name = "ratio", .kind = SettingKind::kNumber, .high = 1},
    {.name = "strict", .kind = SettingKind::kFlag}};

constexpr KnownFunction kFunctions[] = {
    {.type = "route", .runs_on_gpu = true, .has_image = true, .settings = kKeys},
    {.type = "record",
     .stateful = true,
     .lane_needs =
         [](const LaneRequest&) {
           return LaneNeeds{96, 0};
         },
     .settings = {}}};

using Files = std::map<std::string, std::string>;

/// By name; the first one's is "f".
Files files_of(std::string_view text) {
  constexpr std::string_view kMark = "\n== ";
  Files files;
  std::string name = "f";
  while (true) {
    const std::size_t mark = text.find(kMark);
    files[name] = text.substr(0, mark);
    if (mark == text.npos) return files;
    text.remove_prefix(mark + kMark.size());
    const std::size_t end = text.find('\n');
    name = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
}

void check_shown(const Plan& plan, const std::string& text) {
  MILLRACE_CHECK(!text.empty());
  for (const std::string& secret : plan.secrets) {
    // A short one may stand in a word of ours.
    MILLRACE_CHECK(secret.size() < 24 || text.find(secret) == text.npos);
  }
}

int read_one(const uint8_t* data, size_t size) {
  const Host host{{0, 1, 2, 3, 4, 5, 6, 7}};
  const Files files = files_of({reinterpret_cast<const char*>(data), size});
  const ReadFile read_file = [&](const std::filesystem::path& path, std::size_t, bool) {
    const auto found = files.find(path.filename().string());
    if (found == files.end()) throw Error("it is not there");
    return found->second;
  };
  try {
    const Topology topology = parse_topology(files.at("f"), "/f", kFunctions, read_file);
    const Plan plan = make_plan(topology, kFunctions, host);
    for (const std::string& text : {plan_text(plan), plan_json(plan), plan_mermaid(plan)}) {
      check_shown(plan, text);
    }
  } catch (const TopologyError& error) {
    MILLRACE_CHECK(!error.problems().empty());
    for (const Problem& problem : error.problems()) MILLRACE_CHECK(!to_text(problem).empty());
  }
  return 0;
}

}  // namespace
}  // namespace millrace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return millrace::read_one(data, size);
}
