// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "io-worker/ports/dpdk.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "io-worker/ports/settings.hpp"
#include "shared/base/limits.hpp"
#include "shared/base/nearest.hpp"

namespace millrace {
namespace {

constexpr std::string_view kAllowed =
    "a PCI address ('0000:3b:00.0') or a virtual device ('net_memif0,role=client'), each with "
    "arguments behind commas: key=value";

/// Drivers of virtual devices that are linked and work in an io-worker.
constexpr std::array<std::string_view, 5> kDrivers = {"net_memif", "net_null", "net_tap",
                                                      "net_vhost", "net_virtio_user"};

struct Unsuitable {
  std::string_view driver, instead;
};
constexpr Unsuitable kUnsuitable[] = {
    {"net_af_packet", "it does not work in a process beside its primary; use device afpacket"},
    {"net_af_xdp", "it does not work in a process beside its primary; use device afxdp"},
    {"net_pcap", "use device pcap"},
    {"net_ring", "it hands one port's buffers to another; use net_memif, or net_null to try"},
};

bool is_hex(std::string_view text, std::size_t digits) {
  return text.size() == digits &&
         text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

/// "0000:3b:00.0", the domain may be missing.
bool is_pci_address(std::string_view text) {
  if (text.size() == 12) {
    if (!is_hex(text.substr(0, 4), 4) || text[4] != ':') return false;
    text.remove_prefix(5);
  }
  return text.size() == 7 && is_hex(text.substr(0, 2), 2) && text[2] == ':' &&
         is_hex(text.substr(3, 2), 2) && text[5] == '.' && text[6] >= '0' && text[6] <= '7';
}

void check_virtual(const PortSettings& settings, const std::string& name) {
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  const std::string driver = name.substr(0, digits);
  for (const Unsuitable& bad : kUnsuitable) {
    if (driver != bad.driver) continue;
    settings.refuse("devargs name driver '" + driver + "': " + std::string(bad.instead));
  }
  if (std::find(kDrivers.begin(), kDrivers.end(), driver) == kDrivers.end()) {
    const std::string near = nearest_of(driver, kDrivers);
    settings.refuse("devargs name driver '" + driver + "', which is not there" +
                    (near.empty() ? "" : ", did you mean '" + near + "'?") +
                    "; allowed: " + comma_list(kDrivers));
  }
  if (digits == name.size()) {
    settings.refuse("devargs", name, "a driver and a number of your own, as in '" + name + "0'");
  }
}

void check_arguments(const PortSettings& settings, std::string_view rest) {
  while (!rest.empty()) {
    rest.remove_prefix(1);  // the comma
    const std::string_view word = rest.substr(0, rest.find(','));
    const std::size_t equals = word.find('=');
    if (equals == 0 || equals == std::string_view::npos || equals + 1 == word.size()) {
      settings.refuse("devargs", word, "key=value behind each comma");
    }
    rest.remove_prefix(word.size());
  }
}

}  // namespace

void check_dpdk(const PlanPort& port) {
  const PortSettings settings(port);
  const std::string devargs = settings.text("devargs");
  if (devargs.empty() || devargs.find_first_of(" \t\"'") != std::string::npos) {
    settings.refuse("devargs", devargs, kAllowed);
  }
  const std::string name = devargs.substr(0, devargs.find(','));
  if (name.find(':') != std::string::npos) {
    if (!is_pci_address(name)) settings.refuse("devargs", name, kAllowed);
  } else {
    check_virtual(settings, name);
  }
  check_arguments(settings, std::string_view(devargs).substr(name.size()));
  settings.flag("promiscuous");
  settings.number("rx_descriptors");
  settings.number("tx_descriptors");
}

PortQueues dpdk_queues(const PlanPort& port) {
  return {PortSettings(port).count("queues"), kPortQueueCountMax};
}

}  // namespace millrace
