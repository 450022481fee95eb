// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/tap.hpp"

#include <net/if.h>

#include "io-worker/ports/settings.hpp"

namespace millrace {
namespace {

constexpr std::string_view kNameAllowed = "a name of at most 15 bytes without / : % and blanks";

std::string interface_name(const PortSettings& settings) {
  std::string name = settings.text("interface");
  if (name.empty()) settings.refuse("needs 'interface', the one to make");
  if (name.size() >= IFNAMSIZ || name == "." || name == ".." ||
      name.find_first_of("/:% \t") != std::string::npos) {
    settings.refuse("interface", name, kNameAllowed);
  }
  return name;
}

/// By default the port's address with another first byte: the same in each run, so that neighbour
/// tables of the senders stay right.
MacAddress host_mac(const PortSettings& settings, const PlanPort& port) {
  MacAddress mac{};
  const std::string text = settings.has("host_mac") ? settings.text("host_mac") : port.mac;
  if (!parse_mac(text, mac) || is_group(mac)) {
    settings.refuse("host_mac", text, "a unicast MAC address like '06:00:00:00:00:01'");
  }
  if (!settings.has("host_mac")) mac[0] ^= 4;
  return mac;
}

}  // namespace

TapSettings tap_settings(const PlanPort& port) {
  const PortSettings settings(port);
  TapSettings parsed;
  parsed.interface = interface_name(settings);
  parsed.queues = settings.count("queues");
  parsed.ring = settings.count("ring");
  parsed.super_frames = settings.flag("super_frames");
  parsed.host_mac = host_mac(settings, port);
  for (const std::string& text : settings.list("host_addresses")) {
    const auto address = parse_address(text);
    if (!address) {
      settings.refuse("host_addresses", text,
                      "addresses with their prefix like 10.1.0.2/24, 2001:db8::2/64");
    }
    parsed.host_addresses.push_back(*address);
  }
  return parsed;
}

void check_tap(const PlanPort& port) { tap_settings(port); }

PortQueues tap_queues(const PlanPort& port) {
  return {tap_settings(port).queues, kPortQueueCountMax};
}

}  // namespace millrace
