// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/hub/tap_keeper.hpp"

#include <net/if.h>

#include "io-worker/ports/tap.hpp"
#include "shared/base/error.hpp"

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

TapKeeper::TapKeeper(const Plan& plan, const std::string& run_dir, Part part)
    : socket_path_(run_dir + (part == Part::kStandby ? "/files.standby" : "/files.hub")) {
  for (const PlanPort& port : plan.ports) {
    if (!is_tap(port)) continue;
    while_doing("port '" + port.name + "' (tap)", [&] {
      auto queues = part == Part::kHub ? make_tap(port, run_dir) : borrow_all(port, run_dir);
      for (std::uint32_t i = 0; i < queues.size(); ++i) {
        files_[tap_file_name(port.name, i)] = std::move(queues[i]);
      }
    });
    taps_.push_back({.port = port.name, .interface = tap_settings(port).interface});
  }
}

void TapKeeper::lend() {
  if (!taps_.empty()) lender_.emplace(socket_path_, std::move(files_));
}

void TapKeeper::watch_links(const std::function<void(const std::string&, bool)>& tell) {
  for (Tap& tap : taps_) {
    const auto link = find_link(tap.interface);
    const bool up = !link || (link->flags & IFF_UP) != 0;
    if (up == tap.up) continue;
    tap.up = up;
    tell(tap.port, up);
  }
}

}  // namespace millrace
