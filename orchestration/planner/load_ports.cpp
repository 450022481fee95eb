// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>

#include <algorithm>

#include "orchestration/planner/keys.hpp"
#include "orchestration/planner/sections.hpp"
#include "shared/base/ascii.hpp"
#include "shared/base/limits.hpp"
#include "shared/base/mac.hpp"
#include "shared/base/nearest.hpp"
#include "shared/config/known_devices.hpp"
#include "shared/config/plan.hpp"
#include "shared/config/plan_settings.hpp"

namespace millrace {
namespace {

constexpr std::uint32_t kIpv6MtuMin = 1280;

constexpr std::size_t kInterfaceBytesMax = 15;  ///< the kernel's IFNAMSIZ, less the zero byte

std::vector<std::string_view> device_names() {
  std::vector<std::string_view> names;
  for (const KnownDevice& device : known_devices()) names.push_back(device.name);
  return names;
}

const KnownDevice* read_device(const YamlMap& map, TopologyPort& port) {
  const std::vector<std::string_view> names = device_names();
  const YamlValue* value = map.need("device", comma_list(names));
  if (value == nullptr) return nullptr;
  const std::optional<std::string> name = value->text(comma_list(names));
  if (!name) return nullptr;
  if (const KnownDevice* device = known_device(*name)) {
    port.device = {*name, value->mark()};
    return device;
  }
  value->refuse(comma_list(names), nearest_of(*name, names));
  return nullptr;
}

void read_mac(const YamlValue& value, TopologyPort& port) {
  constexpr std::string_view kAllowed = "a unicast MAC address like '02:00:00:00:00:01'";
  const std::optional<std::string> text = value.text(kAllowed);
  if (!text) return;
  MacAddress mac{};
  if (!parse_mac(*text, mac) || !is_station(mac)) {
    value.refuse(kAllowed);
    return;
  }
  port.mac = in_lower_case(*text);
}

bool is_address_with_prefix(const std::string& text) {
  const std::size_t slash = text.find('/');
  // A zero byte would end what inet_pton() sees.
  if (slash == std::string::npos || text.find('\0') != std::string::npos) return false;
  const bool ipv6 = text.find(':') != std::string::npos;
  in6_addr address{};
  if (inet_pton(ipv6 ? AF_INET6 : AF_INET, text.substr(0, slash).c_str(), &address) != 1) {
    return false;
  }
  const std::string bits = text.substr(slash + 1);
  const auto is_digit = [](unsigned char c) { return std::isdigit(c) != 0; };
  if (bits.size() > 1 && bits[0] == '0') return false;  // to some that is octal
  return !bits.empty() && bits.size() <= 3 && std::all_of(bits.begin(), bits.end(), is_digit) &&
         std::stoi(bits) <= (ipv6 ? 128 : 32);
}

void read_addresses(const YamlValue& value, TopologyPort& port) {
  constexpr std::string_view kAllowed =
      "an address with its prefix, like '10.1.0.1/24' or '2001:db8::1/64'";
  const auto elements = value.elements();
  if (elements.size() > kPortAddressCountMax) {
    value.refuse("at most " + std::to_string(kPortAddressCountMax) + " addresses");
  }
  for (const YamlValue& element : elements) {
    const std::optional<std::string> text = element.text(kAllowed);
    if (!text) continue;
    if (is_address_with_prefix(*text)) {
      port.addresses.push_back(*text);
    } else {
      element.refuse(kAllowed);
    }
  }
}

void check_ipv6_mtu(const YamlMap& map, const TopologyPort& port) {
  const bool has_ipv6 = std::ranges::any_of(port.addresses, [](const std::string& address) {
    return address.find(':') != std::string::npos;
  });
  if (!has_ipv6 || port.mtu >= kIpv6MtuMin) return;
  map.find("mtu")->refuse("at least " + std::to_string(kIpv6MtuMin) +
                          " for a port with an IPv6 address (RFC 8200, 5)");
}

void read_host_interface(const YamlValue& value, TopologyPort& port) {
  constexpr std::string_view kAllowed =
      "a name for the interface to make, of at most 15 bytes without / : % and blanks";
  const std::optional<std::string> text = value.text(kAllowed);
  if (!text) return;
  if (text->empty() || text->size() > kInterfaceBytesMax || *text == "." || *text == ".." ||
      text->find_first_of(std::string_view("/:% \t\n\0", 7)) != std::string::npos) {
    value.refuse(kAllowed);
    return;
  }
  port.host_interface = {*text, value.mark()};
}

void read_port(const YamlEntry& entry, const LoadContext& context, Topology& topology) {
  TopologyPort& port = topology.ports.emplace_back();
  port.name = entry.key;
  const YamlMap map(entry.value, "a map with 'device'");
  if (const YamlValue* mtu = map.find("mtu")) {
    port.mtu = static_cast<std::uint32_t>(mtu->integer(kMtuMin, kMtuMax).value_or(port.mtu));
  }
  if (const YamlValue* mac = map.find("mac")) read_mac(*mac, port);
  if (const YamlValue* addresses = map.find("addresses")) read_addresses(*addresses, port);
  check_ipv6_mtu(map, port);
  if (const YamlValue* host = map.find("host_interface")) read_host_interface(*host, port);
  if (const YamlValue* cores = map.find("cores")) port.cores = read_cores(*cores);
  const KnownDevice* device = read_device(map, port);
  if (device == nullptr) return;
  map.allow_only(all_keys(kPortKeys, device->settings));
  port.settings = read_settings(map, device->settings, context);
  for (const TopologySetting& setting : port.settings) {
    if (setting.key == "queues") port.queues = whole_number(setting.value.value);
    if (setting.key == "queues_max") {
      port.queues_max = {whole_number(setting.value.value), setting.value.mark};
    }
  }
  if (device->name == "pcap" && map.find("in") == nullptr) map.need("out", "'in' or 'out'");
}

}  // namespace

void read_ports(const YamlValue& value, const LoadContext& context, Topology& topology) {
  for (const YamlEntry& entry : read_items(value, "port", kPortCountMax)) {
    read_port(entry, context, topology);
  }
}

}  // namespace millrace
