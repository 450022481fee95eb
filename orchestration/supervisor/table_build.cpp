// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/table_build.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "orchestration/supervisor/programs.hpp"
#include "orchestration/supervisor/run_dir.hpp"
#include "services/functions/image_file.hpp"
#include "shared/base/check.hpp"
#include "shared/base/error.hpp"
#include "shared/control/plan_file.hpp"
#include "shared/control/whole_file.hpp"

namespace millrace {
namespace {

constexpr std::size_t kReportBytesMax = std::size_t{1} << 20;

std::string report_of(const std::string& run_dir) { return run_dir + "/plan.bin.report"; }

}  // namespace

TableBuild::TableBuild(Plan plan, std::vector<std::uint32_t> numbers, std::string folder,
                       std::string run_dir)
    : plan_(std::move(plan)),
      numbers_(std::move(numbers)),
      folder_(std::move(folder)),
      run_dir_(std::move(run_dir)) {
  for (const std::uint32_t number : numbers_) MILLRACE_CHECK(number < plan_.functions.size());
  std::erase_if(numbers_, [&](std::uint32_t i) { return plan_.functions[i].image.empty(); });
  save_plan(plan_, next_plan_path(run_dir_));
}

TableBuild::~TableBuild() {
  if (child_) child_->signal(SIGKILL);
  ::unlink(next_plan_path(run_dir_).c_str());
  ::unlink(report_of(run_dir_).c_str());
  if (kept_) return;
  for (const std::uint32_t number : numbers_) remove_image(plan_.functions[number].image);
}

void TableBuild::start_next() {
  MILLRACE_CHECK(!child_ && at_ < numbers_.size());
  const std::string path = report_of(run_dir_);
  output_ = UniqueFd(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!output_) throw system_error("open " + path, errno);
  const std::string log = log_path(run_dir_, builder_log(plan_.functions[numbers_[at_]]));
  ::unlink(log.c_str());  // what it says is of this build
  child_ = Child::start(builder_command(folder_, next_plan_path(run_dir_), numbers_[at_]), log,
                        output_.get());
}

bool TableBuild::tend() {
  while (at_ < numbers_.size()) {
    const PlanFunction& function = plan_.functions[numbers_[at_]];
    if (!child_) start_next();
    const std::optional<ExitStatus> end = child_->ended();
    if (!end) return false;
    child_.reset();
    check_builder(*end, function, run_dir_, memory_);
    const std::vector<std::byte> said = read_whole_file(report_of(run_dir_), kReportBytesMax);
    reports_.push_back(parse_table_report(
        function.name, {reinterpret_cast<const char*>(said.data()), said.size()}));
    ++at_;
    MILLRACE_CHECK(reports_.size() == at_);
  }
  return true;
}

}  // namespace millrace
