// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/hub/neighbour_keeper.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "shared/base/clock.hpp"
#include "shared/base/error.hpp"
#include "shared/base/say.hpp"
#include "shared/config/plan_settings.hpp"
#include "shared/control/plan_file.hpp"
#include "shared/control/run_files.hpp"

namespace millrace {
namespace {

bool is_wanted(const Plan& plan) {
  return std::ranges::any_of(plan.functions, [](const PlanFunction& function) {
    return !function.gone && follows_kernel_neighbours(function);
  });
}

}  // namespace

NeighbourKeeper::NeighbourKeeper(const ActorContext& context, const std::string& run_dir,
                                 std::function<void(const std::string&)> tell)
    : context_(context), plan_file_(plan_path(run_dir)), tell_(std::move(tell)) {}

NeighbourKeeper::~NeighbourKeeper() { stop(); }

void NeighbourKeeper::stop() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
  stop_ = false;
}

bool NeighbourKeeper::plan_has_changed() {
  struct stat info {};
  if (::stat(plan_file_.c_str(), &info) != 0) return false;
  const std::int64_t written_ns = info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec;
  if (info.st_ino == seen_file_ && written_ns == seen_ns_) return false;
  seen_file_ = info.st_ino;
  seen_ns_ = written_ns;
  return true;
}

void NeighbourKeeper::look() {
  if (!plan_has_changed()) return;
  bool wanted = false;
  try {
    wanted = is_wanted(load_plan(plan_file_));
  } catch (const Error& error) {
    say(context_.plan->actors[context_.me.actor].name, error.what());
    return;
  }
  const NeighbourTableView table = context_.segment.neighbours();
  if (!wanted) {
    stop();
    forget_kernel_neighbours(table);
  } else if (!thread_.joinable()) {
    thread_ = std::thread([this, table] {
      const StatusHeader& header = context_.status.header();
      const TscScale scale(header.tsc_hz);
      NeighbourFollower follower(
          context_.plan->ports,
          {.table = table,
           .run_dir = std::filesystem::path(plan_file_).parent_path().string(),
           .now_ms = [&] { return neighbour_ms(scale.ns_between(header.tsc_origin, tsc_now())); },
           .tell = tell_});
      while (!stop_) follower.turn(kTurn);
    });
  }
}

}  // namespace millrace
