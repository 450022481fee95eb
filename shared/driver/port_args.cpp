// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/driver/port_args.hpp"

#include "shared/config/known_devices.hpp"

namespace millrace {

PortArgs port_args(const PlanPort& port) {
  PortArgs args;
  args.devargs = port_setting(port, "devargs");
  args.promiscuous = port_setting(port, "promiscuous") == "true";
  args.queues = port_number(port, "queues");
  args.rx_descriptors = port_number(port, "rx_descriptors");
  args.tx_descriptors = port_number(port, "tx_descriptors");
  args.name = args.devargs.substr(0, args.devargs.find(','));
  args.virtual_device = args.name.find(':') == std::string::npos;
  return args;
}

}  // namespace millrace
