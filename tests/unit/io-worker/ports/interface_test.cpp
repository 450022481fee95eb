// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/interface.hpp"

#include <net/if.h>

#include <filesystem>
#include <fstream>

#include "io-worker/ports/ethtool.hpp"
#include "io-worker/ports/rtnetlink.hpp"
#include "tests/unit/io-worker/ports/capture_files.hpp"
#include "tests/unit/io-worker/ports/test_pool.hpp"
#include "tests/unit/io-worker/ports/veth.hpp"

namespace millrace {
namespace {

using test::error_of;

class InterfaceTest : public test::VethTest {
 protected:
  void SetUp() override {
    VethTest::SetUp();
    std::filesystem::create_directories(one_);
    std::filesystem::create_directories(two_);
  }
  void TearDown() override {
    VethTest::TearDown();
    std::filesystem::remove_all(folder_);
  }
  std::string take(const InterfaceWish& wish, const std::string& run_dir) {
    return take_interface(test::make_port("afpacket", {}), wish, run_dir,
                          [this](const std::string& other) { return other == alive_; });
  }
  static std::string harmful_ones() {
    std::string names;
    for (const Ethtool::Feature& feature : Ethtool("here").features()) {
      if (feature.active && is_harmful_offload(feature.name)) names += feature.name + " ";
    }
    return names;
  }
  std::string refusal(const InterfaceWish& wish) {
    return error_of([&] { take(wish, one_); });
  }

  const std::string folder_ = "/tmp/millrace-interface-" + std::to_string(::getpid());
  const std::string one_ = folder_ + "/one", two_ = folder_ + "/two";
  std::string alive_;
};

TEST_F(InterfaceTest, WhatIsTakenIsGivenBackAsItWas) {
  ASSERT_EQ(set_alias(if_nametoindex("here"), "of the host"), 0);
  const std::string before = harmful_ones();
  ASSERT_NE(before, "");
  const std::string done = take({.interface = "here"}, one_);
  EXPECT_TRUE(done.starts_with("interface here taken, ")) << done;
  EXPECT_EQ(harmful_ones(), "");
  EXPECT_EQ(find_link("here")->alias, "millrace: taken by the topology in " + one_);
  EXPECT_TRUE(has_clsact(if_nametoindex("here")));
  give_back_interfaces(one_);
  EXPECT_EQ(harmful_ones(), before);
  EXPECT_EQ(find_link("here")->alias, "of the host");
  EXPECT_FALSE(has_clsact(if_nametoindex("here")));
  EXPECT_FALSE(std::filesystem::exists(one_ + "/interfaces"));
  give_back_interfaces(one_);
}

TEST_F(InterfaceTest, WhatCutsSuperFramesThatAreSentStaysOn) {
  ASSERT_NE(harmful_ones().find("tx-tcp-segmentation"), std::string::npos);
  const std::string done = take({.interface = "here", .super_frames = true}, one_);
  EXPECT_EQ(done.find("stay on"), std::string::npos) << done;
  EXPECT_NE(harmful_ones().find("tx-tcp-segmentation"), std::string::npos);
  EXPECT_EQ(harmful_ones().find("rx-"), std::string::npos);
  give_back_interfaces(one_);
}

TEST_F(InterfaceTest, TheHostMayGoOnReceiving) {
  shell("ip address add 192.0.2.1/24 dev here");
  EXPECT_EQ(refusal({.interface = "here"}),
            "port 'lan' (afpacket): interface 'here' has the address 192.0.2.1, which this host "
            "would lose: ip address flush dev here, or host: true at port 'lan', so that the "
            "kernel receives too");
  EXPECT_NO_THROW(take({.interface = "here", .host = true}, one_));
  EXPECT_FALSE(has_clsact(if_nametoindex("here")));
}

TEST_F(InterfaceTest, WhatCannotBeTakenIsLeftAlone) {
  const std::string before = harmful_ones();
  EXPECT_EQ(refusal({.interface = "heer"}),
            "port 'lan' (afpacket): no interface 'heer' in this network namespace; there are: lo, "
            "there, here; did you mean 'here'?");
  EXPECT_EQ(refusal({.interface = "here", .mtu = 9000}),
            "port 'lan' (afpacket): interface 'here' has MTU 1500, the port 9000: ip link set here "
            "mtu 9000, or mtu: 1500 at port 'lan'");
  shell("ip link set here down");
  EXPECT_EQ(refusal({.interface = "here"}),
            "port 'lan' (afpacket): interface 'here' is down: ip link set here up");
  EXPECT_EQ(harmful_ones(), before);
  EXPECT_FALSE(std::filesystem::exists(one_ + "/interfaces"));
}

TEST_F(InterfaceTest, WhatWasRenamedIsGivenBackUnderItsPresentName) {
  const std::string before = harmful_ones();
  take({.interface = "here"}, one_);
  shell("ip link set here name other && ip link add here type bridge && ip link set here up");
  const std::string bridge = harmful_ones();
  ASSERT_TRUE(hold_down(one_, "here", true));
  EXPECT_EQ(find_link("other")->flags & IFF_UP, 0u);
  EXPECT_NE(find_link("here")->flags & IFF_UP, 0u) << "another one has its name";
  give_back_interfaces(one_);
  EXPECT_EQ(harmful_ones(), bridge) << "another one has its name";
  shell("ip link del here && ip link set other name here");
  EXPECT_NE(find_link("here")->flags & IFF_UP, 0u);
  EXPECT_EQ(harmful_ones(), before);
  EXPECT_EQ(find_link("here")->alias, "");
  EXPECT_FALSE(has_clsact(find_link("here")->index));
}

TEST_F(InterfaceTest, WhatADeadTopologyHadIsTakenUnderItsNewName) {
  const std::string before = harmful_ones();
  take({.interface = "here"}, one_);
  shell("ip link set here name other");
  take({.interface = "other"}, two_);
  EXPECT_FALSE(std::filesystem::exists(one_ + "/interfaces"));
  give_back_interfaces(two_);
  shell("ip link set other name here");
  EXPECT_EQ(harmful_ones(), before);
}

TEST_F(InterfaceTest, AddressesOfTheHostAreKeptOfWhatLiesOverItToo) {
  const auto said = [&](const std::string& device = "afpacket") {
    return error_of([&] {
      take_interface(test::make_port(device, {}), {.interface = "here"}, one_,
                     [](const std::string&) { return false; });
    });
  };
  shell("ip link add br0 type bridge && ip link set here master br0 && ip link set br0 up");
  shell("ip address add 192.0.2.1/24 dev br0");
  EXPECT_EQ(said(),
            "port 'lan' (afpacket): interface 'here' is part of 'br0', whose address 192.0.2.1 "
            "this host would lose: ip link set here nomaster, or host: true at port 'lan', so that "
            "the kernel receives too");
  EXPECT_EQ(said("afxdp"),
            "port 'lan' (afxdp): interface 'here' is part of 'br0', whose address 192.0.2.1 this "
            "host would lose: ip link set here nomaster");
  shell("ip address flush dev br0 && ip link add up7 link br0 type macvlan");
  EXPECT_EQ(said(), "") << "what is over it has no address";
  give_back_interfaces(one_);
  shell("ip address add 2001:db8::1/64 dev up7");
  EXPECT_EQ(said("afxdp"),
            "port 'lan' (afxdp): interface 'here' is under 'up7', whose address 2001:db8::1 this "
            "host would lose: ip address flush dev up7");
  shell("ip link del br0 && ip link add mac0 link here type macvlan");
  shell("ip address add 192.0.2.2/24 dev mac0");
  EXPECT_EQ(said("afxdp"),
            "port 'lan' (afxdp): interface 'here' is under 'mac0', whose address 192.0.2.2 this "
            "host would lose: ip address flush dev mac0");
  EXPECT_NO_THROW(take({.interface = "here", .host = true}, one_));
}

TEST_F(InterfaceTest, ItsOtherNameIsRefusedWithItsOwn) {
  shell("ip link property add dev here altname besides");
  EXPECT_EQ(error_of([&] { take({.interface = "besides"}, one_); }),
            "port 'lan' (afpacket): interface 'besides' is the interface 'here' by another name of "
            "it: interface: here at port 'lan'");
}

TEST_F(InterfaceTest, AddressesThatWouldBeLostAreToldWithoutTakingIt) {
  const PlanPort port = test::make_port("afpacket", {});
  EXPECT_FALSE(address_trouble(port, {.interface = "here"}));
  EXPECT_FALSE(address_trouble(port, {.interface = "nowhere"}));
  shell("ip address add 192.0.2.1/24 dev here");
  const auto trouble = address_trouble(port, {.interface = "here"});
  ASSERT_TRUE(trouble);
  EXPECT_EQ(trouble->found,
            "interface 'here' has the address 192.0.2.1, which this host would lose");
  EXPECT_EQ(trouble->mend,
            "ip address flush dev here, or host: true at port 'lan', so that the kernel receives "
            "too");
  EXPECT_FALSE(address_trouble(port, {.interface = "here", .host = true}));
  EXPECT_EQ(find_link("here")->alias, "");
}

TEST_F(InterfaceTest, OneTopologyHasItUntilItIsGone) {
  const std::string before = harmful_ones();
  take({.interface = "here"}, one_);
  EXPECT_EQ(refusal({.interface = "here"}),
            "port 'lan' (afpacket): interface 'here' is another port of this topology already");
  alive_ = one_;
  EXPECT_EQ(error_of([&] { take({.interface = "here"}, two_); }),
            "port 'lan' (afpacket): interface 'here' is taken by the topology in " + one_ +
                ": millrace down one --run-dir " + one_);
  alive_.clear();
  take({.interface = "here"}, two_);
  EXPECT_FALSE(std::filesystem::exists(one_ + "/interfaces")) << "the dead one's was given back";
  give_back_interfaces(two_);
  EXPECT_EQ(harmful_ones(), before);
  EXPECT_EQ(find_link("here")->alias, "");
}

TEST_F(InterfaceTest, OfARunWhoseDirectoryWasRemovedItIsTakenAgain) {
  take({.interface = "here"}, one_);
  std::filesystem::remove(one_ + "/interfaces");
  take({.interface = "here"}, one_);
  EXPECT_TRUE(has_clsact(find_link("here")->index));
  give_back_interfaces(one_);
  EXPECT_FALSE(has_clsact(find_link("here")->index));
  EXPECT_EQ(find_link("here")->alias, "");
}

TEST_F(InterfaceTest, ReceiveQueuesAreAsManyAsThePortHas) {
  shell(
      "ip link add wide numrxqueues 4 numtxqueues 4 type veth peer name far && ip link set wide "
      "up && ip link set far up");
  take({.interface = "wide", .rx_queues = 2}, one_);
  EXPECT_EQ(Ethtool("wide").rx_queues(), 2u);
  give_back_interfaces(one_);
  EXPECT_EQ(Ethtool("wide").rx_queues(), 4u);
  EXPECT_EQ(error_of([&] { take({.interface = "wide", .rx_queues = 9}, one_); }),
            "port 'lan' (afpacket): interface 'wide' spreads packets over 4 receive queues, the "
            "port has 9, and its driver does not change that: queues: 4");
}

TEST(MtuWarning, NamesBothValuesAndWhatMakesThemEqual) {
  EXPECT_EQ(mtu_warning("lan", 1500, "eth0", 1500), "");
  EXPECT_EQ(mtu_warning("lan", 1500, "eth0", 9000),
            "interface 'eth0' has MTU 9000, the mtu of port 'lan' is 1500: longer packets that "
            "arrive there are lost; mtu: 9000 at port 'lan', or ip link set eth0 mtu 1500");
  EXPECT_EQ(mtu_warning("lan", 1500, "eth0", 9216),
            "interface 'eth0' has MTU 9216, the mtu of port 'lan' is 1500: longer packets that "
            "arrive there are lost; ip link set eth0 mtu 9000 and mtu: 9000 at port 'lan', or ip "
            "link set eth0 mtu 1500");
  EXPECT_EQ(mtu_warning("lan", 9000, "eth0", 9216),
            "interface 'eth0' has MTU 9216, the mtu of port 'lan' is 9000: longer packets that "
            "arrive there are lost; ip link set eth0 mtu 9000");
}

TEST_F(InterfaceTest, ARecordThatAKillCutOffIsForgotten) {
  std::ofstream(one_ + "/interfaces") << "4026531840 3 he";
  give_back_interfaces(one_);
  EXPECT_FALSE(std::filesystem::exists(one_ + "/interfaces"));
}

}  // namespace
}  // namespace millrace
