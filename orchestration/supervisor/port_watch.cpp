// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/port_watch.hpp"

#include <net/if.h>
#include <sys/socket.h>

#include <array>
#include <utility>

#include "io-worker/ports/port.hpp"
#include "io-worker/ports/rtnetlink.hpp"
#include "io-worker/ports/taken.hpp"
#include "shared/base/check.hpp"
#include "shared/base/error.hpp"
#include "shared/config/plan_settings.hpp"

namespace millrace {
namespace {

constexpr std::chrono::milliseconds kLook{1000};
// A NIC that was set up finds its carrier again within this; until then it is not taken for out.
constexpr std::chrono::seconds kCarrierGrace{5};
constexpr std::uint32_t kLowerUp = 1u << 16;  // IFF_LOWER_UP, which <net/if.h> does not have

/// True when there was something.
bool drain(const UniqueFd& changes) {
  std::array<std::byte, 16384> message;
  bool any = false;
  // ENOBUFS: more than the socket holds; the links themselves are looked at.
  while (changes && (::recv(changes.get(), message.data(), message.size(), MSG_DONTWAIT) > 0 ||
                     errno == ENOBUFS)) {
    any = true;
  }
  return any;
}

}  // namespace

PortWatch::PortWatch(const Plan& plan, std::string run_dir, InUse in_use, Hooks hooks)
    : plan_(plan),
      run_dir_(std::move(run_dir)),
      in_use_(std::move(in_use)),
      hooks_(std::move(hooks)) {
  for (std::uint32_t port = 0; port < plan.ports.size(); ++port) {
    const auto wish = interface_wish(plan.ports[port]);
    if (!wish) continue;
    Watched watched{.port = port, .wish = *wish};
    // Another one may have the name by now: it was not watched while there was no supervisor.
    const auto link = find_link(wish->interface);
    watched.index = taken_index(run_dir_, wish->interface).value_or(link ? link->index : 0);
    watched.name = wish->interface;
    watched.mtu = wish->mtu;
    watched.held_down = is_held_down(run_dir_, wish->interface);
    watched_.push_back(std::move(watched));
  }
  if (watched_.empty()) return;
  if (!sees_interfaces_of(run_dir_)) {
    say(Severity::kWarning, "ports_unwatched",
        "the interfaces are in another network namespace: what happens to them is not seen");
    watched_.clear();
    return;
  }
  for (Watched& watched : watched_) {
    const std::string name = setting_of(plan.ports[watched.port].settings, "follow");
    for (std::size_t i = 0; i < watched_.size(); ++i) {
      if (plan.ports[watched_[i].port].name == name) watched.follow = static_cast<int>(i);
    }
  }
  changes_ = link_changes();
}

void PortWatch::tend(Clock::time_point now) {
  if (watched_.empty() || (!drain(changes_) && now < next_)) return;
  next_ = now + kLook;
  for (Watched& watched : watched_) look(watched);
  for (Watched& watched : watched_) follow(watched, now);
}

void PortWatch::look(Watched& watched) {
  const auto link = find_link(watched.index);
  if (!link) {
    look_at_missing(watched);
    const auto other = find_link(watched.wish.interface);
    if (other) take_again(watched, other->index);
    return;
  }
  if (link->name != watched.name) look_at_name(watched, link->name);
  if (link->mtu != watched.mtu) look_at_mtu(watched, link->mtu);
  const bool carrier = (link->flags & IFF_UP) != 0 && (link->flags & kLowerUp) != 0;
  watched.up = (link->flags & IFF_UP) != 0;
  if (watched.held_down && watched.up) {  // the host wants it up
    hold_down(run_dir_, watched.wish.interface, false);
    watched.held_down = false;
  }
  if (carrier != watched.carrier && !watched.held_down) {
    say(carrier ? Severity::kInfo : Severity::kWarning, carrier ? "link_up" : "link_down",
        "link of port '" + plan_.ports[watched.port].name + "' is " + (carrier ? "up" : "down"));
  }
  watched.carrier = carrier;
  if (carrier) watched.raised = {};
}

void PortWatch::look_at_missing(Watched& watched) {
  if (watched.index == 0) return;
  watched.index = 0;
  watched.carrier = false;
  say(Severity::kError, "port_lost",
      called(watched) +
          " is gone: what should leave there is dropped as no_output; make it again " +
          "and set it up, then it is taken again");
}

void PortWatch::look_at_mtu(Watched& watched, std::uint32_t mtu) {
  watched.mtu = mtu;
  const std::string trouble =
      mtu_warning(plan_.ports[watched.port].name, watched.wish.mtu, watched.name, mtu);
  if (!trouble.empty()) return say(Severity::kWarning, "port_mtu", trouble);
  say(Severity::kInfo, "port_mtu", called(watched) + " has the port's MTU again");
}

/// Whatever moves packets knows it by its index.
void PortWatch::look_at_name(Watched& watched, const std::string& name) {
  const std::string before = std::exchange(watched.name, name);
  const bool again = name == watched.wish.interface;
  say(again ? Severity::kInfo : Severity::kWarning, "port_renamed",
      called(watched) + " is called '" + name + "' " +
          (again ? "again"
                 : "now: packets pass as before; the next start finds it by `interface: " + name +
                       "`, or: ip link set " + name + " name " + watched.wish.interface));
  if (hooks_.renamed) hooks_.renamed(before, name);
}

void PortWatch::take_again(Watched& watched, std::uint32_t index) {
  try {
    const std::string done =
        retake_interface(plan_.ports[watched.port], watched.wish, run_dir_, in_use_);
    watched.index = index;
    watched.name = watched.wish.interface;
    watched.carrier = watched.up = true;
    watched.held_down = false;
    watched.trouble.clear();
    say(Severity::kWarning, "port_taken_again", called(watched) + " is back: " + done);
    hooks_.reopen(watched.port);
  } catch (const Error& error) {
    if (watched.trouble == error.what()) return;
    watched.trouble = error.what();
    say(Severity::kWarning, "port_not_taken", watched.trouble);
  }
}

/// Nothing gets through there, and not because we hold it down.
bool PortWatch::is_out(const Watched& watched, Clock::time_point now) const {
  if (watched.index == 0) return true;
  if (watched.held_down || watched.carrier) return false;
  return !watched.up || now - watched.raised >= kCarrierGrace;
}

void PortWatch::follow(Watched& watched, Clock::time_point now) {
  if (watched.follow < 0 || watched.index == 0) return;
  MILLRACE_CHECK(static_cast<std::size_t>(watched.follow) < watched_.size());
  const Watched& other = watched_[static_cast<std::size_t>(watched.follow)];
  const bool out = is_out(other, now);
  if (out == watched.held_down || (out && !watched.up)) return;
  if (!hold_down(run_dir_, watched.wish.interface, out)) {
    if (watched.trouble.empty()) {
      watched.trouble = called(watched) + " could not be set " + (out ? "down" : "up");
      say(Severity::kError, "link_not_passed_on", watched.trouble);
    }
    return;
  }
  watched.trouble.clear();
  watched.held_down = out;
  watched.up = !out;
  watched.carrier = false;
  if (!out) watched.raised = now;
  say(Severity::kInfo, out ? "link_held_down" : "link_let_up",
      called(watched) + " is set " + (out ? "down" : "up") + " as port '" +
          plan_.ports[other.port].name + "' has " + (out ? "no" : "a") + " link");
}

std::string PortWatch::called(const Watched& watched) const {
  return "interface '" + watched.wish.interface + "' of port '" + plan_.ports[watched.port].name +
         "'";
}

void PortWatch::say(Severity severity, const char* kind, const std::string& text) const {
  hooks_.tell({.severity = severity, .kind = kind, .actor = kNoActor, .text = text});
}

}  // namespace millrace
