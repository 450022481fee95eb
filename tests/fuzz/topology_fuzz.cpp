// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The loader and the planner take any text: a topology that is accepted has a plan or a reason why
// not, and the plan can be printed.

#include <string>

#include "shared/base/check.hpp"
#include "shared/base/error.hpp"
#include "shared/config/loader.hpp"
#include "shared/config/plan_printer.hpp"
#include "shared/config/planner.hpp"

namespace millrace {
namespace {

constexpr KnownSetting kKeys[] = {
    {.name = "table", .kind = SettingKind::kInputFile, .list = true, .required = true},
    {.name = "limit", .kind = SettingKind::kInteger, .high = 10},
    {.name = "share", .kind = SettingKind::kNumber, .high = 1},
    {.name = "strict", .kind = SettingKind::kFlag}};

constexpr KnownFunction kFunctions[] = {
    {.type = "route", .runs_on_gpu = true, .has_image = true, .settings = kKeys},
    {.type = "record", .stateful = true, .lane_state_bytes = 96, .settings = {}}};

int read_one(const uint8_t* data, size_t size) {
  const Host host{{0, 1, 2, 3, 4, 5, 6, 7}};
  try {
    const Topology topology =
        parse_topology(std::string(reinterpret_cast<const char*>(data), size), "f", kFunctions);
    const Plan plan = make_plan(topology, kFunctions, host);
    MILLRACE_CHECK(!plan_text(plan).empty());
    MILLRACE_CHECK(!plan_json(plan).empty());
    MILLRACE_CHECK(!plan_mermaid(plan).empty());
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
