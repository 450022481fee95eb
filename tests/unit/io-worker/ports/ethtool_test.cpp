// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/ethtool.hpp"

#include <algorithm>
#include <set>

#include "shared/base/error.hpp"
#include "tests/unit/io-worker/ports/veth.hpp"

namespace millrace {
namespace {

class EthtoolTest : public test::VethTest {
 protected:
  static std::set<std::string> active(const Ethtool& ethtool) {
    std::set<std::string> names;
    for (const Ethtool::Feature& feature : ethtool.features()) {
      if (feature.active) names.insert(feature.name);
    }
    return names;
  }
};

TEST_F(EthtoolTest, SwitchesFeaturesOffAndOnAgain) {
  const Ethtool ethtool("here");
  EXPECT_EQ(ethtool.driver(), "veth");
  const std::set<std::string> before = active(ethtool);
  ASSERT_TRUE(before.contains("tx-udp-segmentation"));
  ASSERT_TRUE(before.contains("rx-vlan-hw-parse"));
  const std::vector<std::string> some = {"tx-udp-segmentation", "rx-vlan-hw-parse"};
  ethtool.set_features(some, false);
  std::set<std::string> fewer = before;
  for (const std::string& name : some) fewer.erase(name);
  EXPECT_EQ(active(ethtool), fewer);
  EXPECT_EQ(active(Ethtool("there")), before) << "the other end";
  ethtool.set_features(some, true);
  EXPECT_EQ(active(ethtool), before);
}

TEST_F(EthtoolTest, AnInterfaceThatIsNotThereHasNoFeatures) {
  const Ethtool nobody("nobody");
  EXPECT_TRUE(nobody.features().empty());
  EXPECT_EQ(nobody.driver(), "");
  EXPECT_NO_THROW(nobody.set_features({"rx-gro"}, true)) << "it has none of that name";
}

TEST_F(EthtoolTest, ReceiveQueuesAreCountedAndSet) {
  shell(
      "ip link add wide numrxqueues 3 numtxqueues 3 type veth peer name far numrxqueues 3 "
      "numtxqueues 3");
  const Ethtool wide("wide");
  EXPECT_EQ(wide.rx_queues(), 3u);
  EXPECT_EQ(wide.set_rx_queues(2), 0);
  EXPECT_EQ(wide.rx_queues(), 2u);
  EXPECT_NE(wide.set_rx_queues(4), 0) << "it has three";
  EXPECT_EQ(Ethtool("nobody").rx_queues(), 0u);
  EXPECT_NE(Ethtool("nobody").set_rx_queues(1), 0);
}

TEST_F(EthtoolTest, SegmentsMergedChecksumsLeftOutAndTagsTakenOffAreHarmful) {
  for (const char* name :
       {"rx-gro", "rx-gro-hw", "rx-lro", "tx-tcp6-segmentation", "tx-generic-segmentation",
        "tx-checksum-ipv4", "rx-checksum", "rx-vlan-hw-parse", "tx-udp-segmentation"}) {
    EXPECT_TRUE(is_harmful_offload(name)) << name;
  }
  for (const char* name : {"tx-vlan-hw-insert", "highdma", "tx-scatter-gather", "rx-hashing",
                           "rx-ntuple-filter", "loopback"}) {
    EXPECT_FALSE(is_harmful_offload(name)) << name;
  }
}

}  // namespace
}  // namespace millrace
