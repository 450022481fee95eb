// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/unit/services/functions/acl/acl_folder.hpp"

namespace millrace {

/// Ports "lan" with the interface eth1, and "wan".
inline std::vector<PlanPort> firewall_ports() {
  std::vector<PlanPort> ports(2);
  ports[0].name = "lan";
  ports[0].settings = {{"interface", "eth1"}};
  ports[1].name = "wan";
  return ports;
}

inline PlanFunction firewall_plan(const AclFolder& folder, const Settings& settings) {
  PlanFunction function;
  function.name = "f";
  function.type = "firewall";
  function.image = folder.path("f.image");
  function.settings = settings;
  return function;
}

}  // namespace millrace
