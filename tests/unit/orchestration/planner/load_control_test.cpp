// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tests/unit/orchestration/planner/topology_fixture.hpp"

namespace millrace {
namespace {

constexpr const char* kLeastControl =
    "millrace: 1\nports: {a: {device: null}}\npaths: {p: {from: a}}\n";

std::string with(const std::string& control) {
  return std::string(kLeastControl) + "control: " + control + "\n";
}

TEST(LoadControl, IsOffUnlessSaid) { EXPECT_FALSE(parse(kLeastControl).control); }

TEST(LoadControl, ReadsAddressAndFiles) {
  const Topology topology =
      parse(with("{listen: 'tcp://[::1]:7070', key: host.key, clients: [/a.pub, b/../c.pub]}"));
  ASSERT_TRUE(topology.control);
  EXPECT_EQ(topology.control->listen.value, "tcp://[::1]:7070");
  EXPECT_EQ(topology.control->key.value, "/etc/millrace/host.key");
  ASSERT_EQ(topology.control->clients.size(), 2u);
  EXPECT_EQ(topology.control->clients[0].value, "/a.pub");
  EXPECT_EQ(topology.control->clients[1].value, "/etc/millrace/c.pub");
  EXPECT_EQ(topology.control->clients[1].mark.line, 4);
  EXPECT_EQ(parse(with("{listen: 'tcp://h:1', key: k, clients: one.pub}")).control->clients.size(),
            1u);
}

TEST(LoadControl, RefusesTcpWithoutKeys) {
  const std::string allowed =
      "; allowed: '{ listen: \"tcp://ADDRESS:PORT\", key: FILE, clients: [FILE, ...] }', all "
      "three: there is no TCP without keys (millrace keys FILE makes them)";
  EXPECT_EQ(wrong(with("{listen: 'tcp://127.0.0.1:1', clients: a.pub}")),
            "4:10: found no 'key' in 'control'" + allowed);
  EXPECT_EQ(wrong(with("{listen: 'tcp://127.0.0.1:1', key: k}")),
            "4:10: found no 'clients' in 'control'" + allowed);
  EXPECT_EQ(wrong(with("{key: k, clients: a.pub}")),
            "4:10: found no 'listen' in 'control'" + allowed);
  EXPECT_EQ(wrong(with("{listen: 'tcp://127.0.0.1:1', key: k, clients: []}")),
            "4:57: found a list as 'clients'; allowed: at least one file");
  EXPECT_EQ(wrong(with("{listen: 'tcp://127.0.0.1:1', key: k, client: a.pub}")),
            "4:10: found no 'clients', but 'client', in 'control'" + allowed +
                "\n4:48: found 'client' in 'control'; allowed: clients, key, listen; did you mean "
                "'clients'?");
}

TEST(LoadControl, RefusesOtherAddresses) {
  for (const std::string& address :
       std::vector<std::string>{"127.0.0.1:1", "tcp://127.0.0.1", "tcp://:1", "tcp://a:70000",
                                "tcp://a:", "tcp://a:x", "ipc:///tmp/x:1", "tcp://localhost:1",
                                "tcp://::1:1", "tcp://[::1]", "tcp://a-name-of-no-interface:1"}) {
    EXPECT_EQ(wrong(with("{listen: '" + address + "', key: k, clients: a.pub}")),
              "4:19: found '" + address +
                  "' as 'listen'; allowed: tcp://ADDRESS:PORT with an address of the host like "
                  "127.0.0.1 or [::1], one of its interfaces, or * for all; port 0 to 65535");
  }
}

}  // namespace
}  // namespace millrace
