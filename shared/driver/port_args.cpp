// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/driver/port_args.hpp"

namespace millrace {

PortArgs port_args(const PlanPort& port) {
  PortArgs args;
  for (const auto& [key, value] : port.settings) {
    const auto number = [&text = value] { return static_cast<std::uint32_t>(std::stoul(text)); };
    if (key == "devargs") args.devargs = value;
    if (key == "promiscuous") args.promiscuous = value == "true";
    if (key == "queues") args.queues = number();
    if (key == "rx_descriptors") args.rx_descriptors = number();
    if (key == "tx_descriptors") args.tx_descriptors = number();
  }
  args.name = args.devargs.substr(0, args.devargs.find(','));
  args.virtual_device = args.name.find(':') == std::string::npos;
  return args;
}

}  // namespace millrace
