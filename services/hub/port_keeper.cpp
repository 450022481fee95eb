// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/hub/port_keeper.hpp"

#include <fcntl.h>
#include <net/if.h>

#include <algorithm>

#include "io-worker/ports/afpacket.hpp"
#include "io-worker/ports/kept_file.hpp"
#include "io-worker/ports/tap.hpp"
#include "shared/base/check.hpp"
#include "shared/base/error.hpp"
#include "shared/layout/mapping.hpp"

namespace millrace {
namespace {

std::vector<UniqueFd> borrow_all(const PlanPort& port, const std::string& run_dir) {
  std::vector<UniqueFd> files;
  for (std::uint32_t i = 0; i < tap_queues(port).receive; ++i) {
    files.push_back(borrow_tap(port, i, run_dir));
  }
  return files;
}

}  // namespace

PortKeeper::PortKeeper(const Plan& plan, const std::string& run_dir, Part part)
    : run_dir_(run_dir), part_(part) {
  for (const PlanPort& port : plan.ports) {
    if (is_tap(port)) {
      while_doing("port '" + port.name + "' (tap)", [&] {
        auto queues = part == Part::kHub ? make_tap(port, run_dir) : borrow_all(port, run_dir);
        taps_.push_back({.port = port.name, .index = tap_index(queues.at(0))});
        for (std::uint32_t i = 0; i < queues.size(); ++i) {
          files_[kept_file_name(port, i)] = std::move(queues[i]);
        }
      });
    } else if (port.device == "afpacket") {
      const AfpacketSettings settings = afpacket_settings(port);
      for (std::uint32_t i = 0; i < settings.shares(); ++i) {
        const std::string name = kept_file_name(port, i);
        places_.insert(name);
        // Of a hub that ends before this one lends.
        if (part != Part::kSuccessor) continue;
        if (UniqueFd file = borrow_kept(run_dir, name)) files_[name] = std::move(file);
      }
    }
  }
}

void PortKeeper::lend() {
  MILLRACE_CHECK(!lender_);
  UniqueFd segment(::fcntl(kSegmentFd, F_DUPFD_CLOEXEC, kSegmentFd + 1));
  if (segment) files_[kSegmentLoan] = std::move(segment);
  const std::string mine = run_dir_ + (part_ == Part::kStandby ? kStandbyFiles : kHubFiles);
  lender_.emplace(mine, std::move(files_), places_);
  if (part_ != Part::kStandby) return;
  // What was left with the hub before this process was here. What has been left since is newer.
  for (const std::string& name : places_) {
    const UniqueFd file = borrow_file(run_dir_ + kHubFiles, name);
    if (file) leave_file_if_none(mine, name, file);
  }
}

void PortKeeper::watch_links(const std::function<void(const std::string&, bool)>& tell) {
  for (Tap& tap : taps_) {
    const auto link = find_link(tap.index);
    const bool up = !link || (link->flags & IFF_UP) != 0;
    if (up == tap.up) continue;
    tap.up = up;
    tell(tap.port, up);
  }
}

}  // namespace millrace
