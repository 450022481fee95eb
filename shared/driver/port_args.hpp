// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "shared/config/plan.hpp"

namespace millrace {

/// The settings of a dpdk port, which io-worker/ports/dpdk.hpp has checked.
struct PortArgs {
  std::string devargs;
  std::string name;             ///< of the device with DPDK: what stands before the first comma
  bool virtual_device = false;  ///< made by us; else a PCI address
  bool promiscuous = false;
  std::uint32_t queues = 0;
  std::uint32_t rx_descriptors = 0;
  std::uint32_t tx_descriptors = 0;
};
PortArgs port_args(const PlanPort& port);

}  // namespace millrace
