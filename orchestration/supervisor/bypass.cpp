// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/bypass.hpp"

#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <span>
#include <sstream>
#include <utility>

#include "io-worker/ports/rtnetlink.hpp"
#include "orchestration/supervisor/child.hpp"
#include "shared/base/error.hpp"
#include "shared/base/fnv.hpp"
#include "shared/base/patience.hpp"
#include "shared/base/unique_fd.hpp"
#include "shared/control/discovery_file.hpp"
#include "shared/control/whole_file.hpp"

namespace millrace {
namespace {

/// At most 15 bytes, whatever the topology is called.
std::string bridge_name(const std::string& topology) {
  char name[IFNAMSIZ];
  std::uint64_t number = 0;
  for (const char letter : topology) number = fnv1a({number, static_cast<unsigned char>(letter)});
  std::snprintf(name, sizeof name, "mr-by-%08x", static_cast<std::uint32_t>(number));
  return name;
}

const std::string* interface_of(const Topology& topology, const std::string& port) {
  const std::size_t at = index_of(topology.ports, port);
  if (at == topology.ports.size()) return nullptr;
  for (const TopologySetting& setting : topology.ports[at].settings) {
    if (setting.key == "interface") return &setting.value.value;
  }
  return nullptr;
}

bool is_part_of(const std::string& bridge, const Link& link) {
  const auto found = find_link(bridge);
  return found && link.master == found->index;
}

/// Before anything is made: an interface is part of one bridge at a time.
void require_free(const Bypass& bypass) {
  for (const std::string& interface : bypass.interfaces_now()) {
    const auto link = find_link(interface);
    if (!link || link->master == 0 || is_part_of(bypass.bridge, *link)) continue;
    char other[IF_NAMESIZE] = "?";
    ::if_indextoname(link->master, other);
    throw Error("bypass: interface " + interface + " is part of " + other +
                " already, so no packet would pass between " + bypass.interfaces[0] + " and " +
                bypass.interfaces[1] + "; take it out: ip link set " + interface + " nomaster");
  }
}

/// The two requests that a bridge is made of; interfaces are added by their index.
class BridgeSocket {
 public:
  BridgeSocket() : socket_(::socket(AF_LOCAL, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    if (!socket_) throw system_error("socket for a bridge", errno);
  }
  void make(const std::string& name) const {
    if (::ioctl(socket_.get(), SIOCBRADDBR, name.c_str()) != 0 && errno != EEXIST) {
      throw system_error("make bridge " + name, errno);
    }
  }
  void add(const std::string& name, const std::string& interface) const {
    const auto link = find_link(interface);
    if (!link) throw Error("interface " + interface + " for bridge " + name + " is not there");
    ifreq request{};
    name.copy(request.ifr_name, IFNAMSIZ - 1);
    request.ifr_ifindex = static_cast<int>(link->index);
    if (!is_part_of(name, *link) && ::ioctl(socket_.get(), SIOCBRADDIF, &request) != 0) {
      throw system_error("add " + interface + " to bridge " + name, errno);
    }
    if (const int error = set_up(link->index, true)) {
      throw system_error("set " + interface + " up", error);
    }
  }

 private:
  UniqueFd socket_;
};

void turn_bridge_on(const Bypass& bypass) {
  require_free(bypass);
  const BridgeSocket socket;
  socket.make(bypass.bridge);
  for (const auto& interface : bypass.interfaces_now()) socket.add(bypass.bridge, interface);
  const auto bridge = find_link(bypass.bridge);
  if (!bridge) throw Error("bridge " + bypass.bridge + " has gone again");
  if (const int error = set_up(bridge->index, true)) {
    throw system_error("set bridge " + bypass.bridge + " up", error);
  }
}

/// Its interfaces are free with it.
void turn_bridge_off(const Bypass& bypass) {
  const auto bridge = find_link(bypass.bridge);
  if (!bridge) return;
  if (const int error = remove_link(bridge->index)) {
    throw system_error("remove bridge " + bypass.bridge, error);
  }
}

/// Runs the command. Empty: it succeeded; else how it ended. Its children in the background are not
/// waited for.
std::string run_to_its_end(const Command& command, const std::string& log) {
  constexpr std::chrono::seconds kLimit{20};
  constexpr int kReapMs = 2000;  // for the kernel to end what got SIGKILL
  Child child = Child::start(command, log);
  Patience patience(kLimit);
  do {
    const auto end = child.wait(static_cast<int>(Patience::kLook.count()));
    if (end) return end->clean() ? "" : end->text();
  } while (!patience.is_over());
  child.signal(SIGKILL);
  child.wait(kReapMs);
  return "did not end within " + std::to_string(kLimit.count()) + " s and was killed";
}

void call_command(const Bypass& bypass, const std::string& run_dir, bool on) {
  Command command{bypass.command.front(), {bypass.command.begin() + 1, bypass.command.end()}};
  command.arguments.emplace_back(on ? "on" : "off");
  const std::string log = run_dir + ".bypass.log";
  ::unlink(log.c_str());
  std::string end;
  try {
    end = run_to_its_end(command, log);
  } catch (const Error& error) {
    ::unlink(log.c_str());
    throw Error("bypass: " + std::string(error.what()));
  }
  std::ostringstream said;
  said << std::ifstream(log).rdbuf();
  ::unlink(log.c_str());
  if (end.empty()) return;
  throw Error("bypass: " + command.program + " " + command.arguments.back() + " " + end + "\n" +
              said.str());
}

/// What could not be told, for people; empty when all is well. The file of a topology that runs is
/// its telemetry's.
std::string tell_prometheus(const std::string& run_dir, const Bypass& bypass, bool was_on) {
  if (!bypass.on) {
    if (was_on) ::unlink(discovery_path(run_dir).c_str());
    return "";
  }
  try {
    write_bypass_discovery(run_dir, bypass.topology);
    return "";
  } catch (const Error& error) {
    return std::string("; no alert will tell of it: ") + error.what();
  }
}

/// The one that was just saved. If that fails what was known before is known again.
std::string turn_off_or_forget(const std::string& run_dir, const std::optional<Bypass>& before) {
  try {
    return turn_bypass(run_dir, false);
  } catch (const Error&) {
    if (before) {
      save_bypass(run_dir, *before);
    } else {
      ::unlink(bypass_path(run_dir).c_str());
    }
    throw;
  }
}

}  // namespace

std::optional<Bypass> bypass_of(const Topology& topology) {
  Bypass bypass;
  bypass.topology = topology.name;
  for (const auto& word : topology.bypass_command) bypass.command.push_back(word.value);
  for (const auto& port : topology.bypass_bridge) {
    const std::string* const interface = interface_of(topology, port.value);
    if (interface != nullptr) bypass.interfaces.push_back(*interface);
  }
  if (bypass.interfaces.size() == 2) {
    bypass.bridge = bridge_name(topology.name);
  } else if (bypass.command.empty()) {
    return std::nullopt;
  }
  return bypass;
}

std::string bypass_path(const std::string& run_dir) { return run_dir + std::string(kBypassEnding); }

std::optional<Bypass> load_bypass(const std::string& run_dir) {
  std::ifstream file(bypass_path(run_dir));
  Bypass bypass;
  for (std::string line; std::getline(file, line);) {
    const std::size_t space = line.find(' ');
    const std::string key = line.substr(0, space);
    const std::string value = space == std::string::npos ? "" : line.substr(space + 1);
    if (key == "topology") bypass.topology = value;
    if (key == "bridge") bypass.bridge = value;
    if (key == "interface") bypass.interfaces.push_back(value);
    if (key == "called") bypass.called.push_back(value);
    if (key == "word") bypass.command.push_back(value);
    if (key == "is") bypass.on = value == "on";
  }
  const bool is_bridge = !bypass.bridge.empty() && bypass.interfaces.size() == 2;
  if (!is_bridge && bypass.command.empty()) return std::nullopt;
  return bypass;
}

void save_bypass(const std::string& run_dir, const Bypass& bypass) {
  std::ostringstream text;
  text << "topology " << bypass.topology << '\n';
  if (!bypass.bridge.empty()) text << "bridge " << bypass.bridge << '\n';
  for (const std::string& interface : bypass.interfaces) text << "interface " << interface << '\n';
  for (const std::string& name : bypass.called) text << "called " << name << '\n';
  for (const std::string& word : bypass.command) text << "word " << word << '\n';
  text << "is " << (bypass.on ? "on" : "off") << '\n';
  const std::string bytes = text.str();
  write_whole_file(bypass_path(run_dir), std::as_bytes(std::span(bytes)));
}

std::string turn_bypass(const std::string& run_dir, bool on) {
  auto bypass = load_bypass(run_dir);
  if (!bypass) return "";
  const bool is_bridge = !bypass->bridge.empty();
  if (!is_bridge) {
    call_command(*bypass, run_dir, on);
  } else if (on) {
    turn_bridge_on(*bypass);
  } else {
    turn_bridge_off(*bypass);
  }
  const bool was_on = std::exchange(bypass->on, on);
  save_bypass(run_dir, *bypass);
  const std::string what = is_bridge ? "bridge " + bypass->bridge + " of " + bypass->interfaces[0] +
                                           " and " + bypass->interfaces[1]
                                     : bypass->command.front();
  return "bypass " + std::string(on ? "on" : "off") + ": " + what +
         tell_prometheus(run_dir, *bypass, was_on);
}

void rename_in_bypass(const std::string& run_dir, const std::string& from, const std::string& to) {
  auto bypass = load_bypass(run_dir);
  if (!bypass) return;
  std::vector<std::string> called = bypass->interfaces_now();
  std::ranges::replace(called, from, to);
  if (called == bypass->interfaces_now()) return;
  bypass->called = std::move(called);
  save_bypass(run_dir, *bypass);
}

std::string begin_bypassed_run(const std::string& run_dir, const std::optional<Bypass>& bypass) {
  std::string done;
  try {
    done = turn_bypass(run_dir, false);
  } catch (const Error& error) {
    throw Error(error.what() +
                std::string("\nwhile it may be on nothing starts; when it is off "
                            "for certain: rm ") +
                bypass_path(run_dir));
  }
  if (bypass) {
    const auto before = load_bypass(run_dir);
    save_bypass(run_dir, *bypass);
    // Bypass hardware is on after a boot, when no file tells of it; another one than before was
    // not turned off either.
    const bool same =
        before && before->command == bypass->command && before->interfaces == bypass->interfaces;
    if (!same) done = turn_off_or_forget(run_dir, before);
  } else {
    ::unlink(bypass_path(run_dir).c_str());
  }
  return done;
}

std::string end_bypassed_run(const std::string& run_dir) {
  try {
    return turn_bypass(run_dir, true);
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace millrace
