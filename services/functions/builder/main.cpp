// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// The builder process: builds one function's table from the topology's plan, publishes its image,
// prints what it did and ends.

#include <linux/capability.h>
#include <sys/prctl.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <utility>

#include "services/functions/builder/build_image.hpp"
#include "shared/base/capabilities.hpp"
#include "shared/base/say.hpp"
#include "shared/base/secrets.hpp"
#include "shared/control/plan_file.hpp"

namespace {

/// The plan lies in the run directory.
std::string folder_of(const std::string& plan_path) {
  return std::filesystem::absolute(plan_path).parent_path().string();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Builds the table image of one function of a topology."};
  std::string plan_path;
  std::uint32_t function = 0;
  app.add_option("--plan", plan_path, "plan.bin in the run directory")->required();
  app.add_option("--function", function, "its number in the plan, from 0")->required();
  CLI11_PARSE(app, argc, argv);
  millrace::Plan plan;
  try {
    // Root also reads files of other users, which may be readable by their owner only.
    millrace::keep_capabilities(millrace::capability(CAP_DAC_READ_SEARCH));
    // The builder ends with its supervisor: its image is of no use then, and the next builder may
    // write to the same place.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    plan = millrace::load_plan(plan_path);
    millrace::BuildReport report = millrace::build_image(plan, function, folder_of(plan_path));
    for (std::string& refusal : report.refusals) {
      refusal = millrace::without_secrets(std::move(refusal), plan.secrets);
    }
    for (millrace::TableFile& file : report.files) {
      file.path = millrace::without_secrets(std::move(file.path), plan.secrets);
    }
    std::printf("%s\n", millrace::report_json(report).c_str());
  } catch (const std::exception& error) {
    const std::string why = millrace::without_secrets(error.what(), plan.secrets);
    millrace::say("millrace-builder", why);
    return 1;
  }
  return 0;
}
