// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/hub/neighbour_follower.hpp"

#include <linux/rtnetlink.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <thread>
#include <utility>

#include "io-worker/ports/rtnetlink.hpp"
#include "shared/base/error.hpp"
#include "shared/base/kernel_table.hpp"
#include "shared/base/tap_interface.hpp"
#include "shared/config/plan_settings.hpp"

namespace millrace {
namespace {

constexpr int kReadsMax = 10'000;  // more than a socket holds

std::map<int, std::uint16_t> ports_by_interface(std::span<const PlanPort> ports,
                                                const std::string& run_dir) {
  std::map<int, std::uint16_t> numbers;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (ports[i].host < 0) continue;
    const PlanPort& host = ports[static_cast<std::size_t>(ports[i].host)];
    const std::uint32_t index =
        tap_interface_index(setting_of(host.settings, "interface"), run_dir);
    if (index != 0) numbers.emplace(static_cast<int>(index), static_cast<std::uint16_t>(i));
  }
  return numbers;
}

void wait_for(int descriptor, std::chrono::milliseconds most) {
  pollfd waiting{.fd = descriptor, .events = POLLIN, .revents = 0};
  ::poll(&waiting, 1, static_cast<int>(most.count()));
}

}  // namespace

NeighbourFollower::NeighbourFollower(std::span<const PlanPort> ports, Means means)
    : ports_(ports), means_(std::move(means)) {}

void NeighbourFollower::turn(std::chrono::milliseconds wait) {
  if (Clock::now() < next_try_) {
    std::this_thread::sleep_for(wait);
    return;
  }
  try {
    follow(wait);
    troubled_ = false;
  } catch (const Error& error) {
    changes_ = UniqueFd();
    next_try_ = Clock::now() + kTryAgain;
    if (!troubled_) means_.tell(std::string("not followed for now: ") + error.what());
    troubled_ = true;
  }
}

void NeighbourFollower::follow(std::chrono::milliseconds wait) {
  if (!changes_) {
    changes_ = neighbour_changes();
    if (!changes_) throw system_error("listen to the kernel's neighbours", errno);
    reads_all_ = true;
  } else if (reads_all_) {  // the socket is full of what is going to be read anyway
    std::this_thread::sleep_until(std::min(next_read_, Clock::now() + wait));
  } else {
    wait_for(changes_.get(), wait);
  }
  take_changes();
  if (reads_all_ && Clock::now() >= next_read_) read_all();
  if (Clock::now() >= next_set_) set_all();
}

void NeighbourFollower::take_changes() {
  alignas(nlmsghdr) std::array<std::byte, 32 * 1024> buffer;  // the kernel sends no longer ones
  const auto visit = [&](const nlmsghdr& header, std::span<const std::byte> message) {
    reads_all_ |= header.nlmsg_type == RTM_NEWLINK || header.nlmsg_type == RTM_DELLINK;
    if (const auto neighbour = parse_kernel_neighbour(message)) take(*neighbour);
  };
  const KernelTold told = read_kernel_changes(changes_.get(), buffer, kReadsMax, visit);
  reads_all_ |= told.lost;
  if (told.error != 0) throw system_error("read changes of the kernel's neighbours", told.error);
}

bool NeighbourFollower::find_port(KernelNeighbour& neighbour) const {
  const auto port = port_of_.find(neighbour.interface);
  if (port == port_of_.end()) return false;
  neighbour.key.port = port->second;
  return true;
}

void NeighbourFollower::take(const KernelNeighbour& neighbour) {
  KernelNeighbour one = neighbour;
  if (!find_port(one)) return;
  if (!one.fixed) {
    if (fixed_.erase(one.key) == 0) return;
    means_.table.forget_static(one.key);
    reads_all_ |= left_out_;  // there is room for another one
    return;
  }
  if (fixed_.size() >= means_.table.entry_count() && !fixed_.contains(one.key)) {
    left_out_ = true;
    return;
  }
  fixed_[one.key] = one.mac;
  if (!means_.table.set_static(one.key, one.mac, means_.now_ms())) next_set_ = {};  // which tells
}

void NeighbourFollower::read_all() {
  port_of_ = ports_by_interface(ports_, means_.run_dir);
  Fixed fixed;
  left_out_ = false;
  for (KernelNeighbour& one : read_kernel_neighbours()) {
    if (!find_port(one)) continue;
    if (fixed.size() < means_.table.entry_count() || fixed.contains(one.key)) {
      fixed[one.key] = one.mac;
    } else {
      left_out_ = true;
    }
  }
  fixed_ = std::move(fixed);
  means_.table.each([&](const NeighbourSnapshot& entry) {
    if (!fixed_.contains(entry.key)) means_.table.forget_static(entry.key);
  });
  set_all();
  reads_all_ = false;
  next_read_ = Clock::now() + kPause;
}

void NeighbourFollower::set_all() {
  std::size_t without_place = 0;
  for (const auto& [key, mac] : fixed_) {
    if (!means_.table.set_static(key, mac, means_.now_ms())) ++without_place;
  }
  const bool full = without_place != 0 || left_out_;
  if (full && !full_) {
    const std::string count = std::to_string(fixed_.size());
    means_.tell((left_out_ ? "there are more than " + count
                           : std::to_string(without_place) + " of " + count) +
                ", for which the table has no place");
  }
  full_ = full;
  next_set_ = Clock::now() + kSetAgain;
}

void forget_kernel_neighbours(const NeighbourTableView& table) {
  table.each([&](const NeighbourSnapshot& entry) { table.forget_static(entry.key); });
}

}  // namespace millrace
