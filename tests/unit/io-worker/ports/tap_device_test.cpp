// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <net/if.h>
#include <net/if_arp.h>

#include <filesystem>

#include "shared/base/file_lender.hpp"
#include "tests/unit/io-worker/ports/tap_world.hpp"

namespace millrace {
namespace {

using test::error_of;

class TapDeviceTest : public test::TapTest {
 protected:
  std::string prepare(bool others_live) {
    return prepare_tap(port_, "/run/test", [&](const std::string&) { return others_live; });
  }
  std::string refusal(bool others_live) {
    return error_of([&] { prepare(others_live); });
  }
};

TEST_F(TapDeviceTest, AnInterfaceIsThereAsTheSettingsSay) {
  open({{"queues", "2"},
        {"ring", "100"},
        {"host_addresses", "10.1.0.2/24"},
        {"host_addresses", "2001:db8::2/64"}},
       9000);
  ASSERT_EQ(files_.size(), 2u);
  const auto link = find_link("mill");
  ASSERT_TRUE(link);
  EXPECT_EQ(link->index, tap_index(files_[1]));
  EXPECT_EQ(link->mtu, 9000u);
  EXPECT_EQ(link->type, ARPHRD_ETHER);
  EXPECT_EQ(link->alias, "millrace: port mill of the topology in /run/test");
  EXPECT_EQ(link->flags & (IFF_UP | IFF_RUNNING), unsigned{IFF_UP | IFF_RUNNING}) << "a carrier";
  shell("ip link show mill | grep -q 'qlen 100'");
  shell("ip link show mill | grep -q 'link/ether 06:00:00:00:00:01'");
  shell("ip address show mill | grep -q 'inet 10.1.0.2/24'");
  shell("ip address show mill | grep -q 'inet6 2001:db8::2/64'");
}

TEST_F(TapDeviceTest, ItGoesWithTheLastWhoHasAQueue) {
  open({{"queues", "2"}});
  {
    const UniqueFd last = copy(files_[1]);
    files_.clear();
    EXPECT_TRUE(find_link("mill"));
  }
  EXPECT_FALSE(find_link("mill"));
}

TEST_F(TapDeviceTest, ANameThatIsTakenIsRefused) {
  port_ = test::make_port("tap", {{"interface", "here"}});
  const std::string there =
      "interface 'here' is there already: name one that is to be made, or: ip link del here";
  EXPECT_EQ(refusal(false), there);
  EXPECT_EQ(error_of([&] { make_tap(port_, "/run/test"); }), there);
  open();
  EXPECT_EQ(error_of([&] { make_tap(port_, "/run/test"); }),
            "interface 'mill' is another port of this topology already");
  EXPECT_EQ(error_of([&] { make_tap(port_, "/run/other"); }),
            "interface 'mill' is there already, a port of the topology in /run/test: name another "
            "one, or: millrace down test --run-dir /run/test");
}

TEST_F(TapDeviceTest, WhatADeadTopologyLeftIsRemoved) {
  open();
  EXPECT_EQ(prepare(true), "interface mill, left by a killed run, removed") << "of the same name";
  EXPECT_FALSE(find_link("mill"));
  EXPECT_EQ(prepare(true), "");
  files_ = make_tap(port_, "/run/other");
  EXPECT_EQ(refusal(true),
            "interface 'mill' is there already, a port of the topology in /run/other: name another "
            "one, or: millrace down other --run-dir /run/other");
  EXPECT_NE(prepare(false), "");
  EXPECT_FALSE(find_link("mill"));
}

TEST_F(TapDeviceTest, QueuesAreBorrowedFromTheHubElseFromTheStandby) {
  open();
  const std::string folder =
      std::filesystem::temp_directory_path() / ("tap-" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  const auto lend = [&](const char* keeper) {
    std::map<std::string, UniqueFd> files;
    files["lan.0"] = copy(files_[0]);
    return std::make_unique<FileLender>(folder + keeper, std::move(files));
  };
  const auto borrowed = [&] { return tap_index(borrow_tap(port_, 0, folder)); };
  auto hub = lend("/files.hub"), standby = lend("/files.standby");
  EXPECT_EQ(borrowed(), if_nametoindex("mill"));
  hub.reset();
  EXPECT_EQ(borrowed(), if_nametoindex("mill"));
  standby.reset();
  EXPECT_EQ(
      error_of([&] { borrowed(); }),
      "neither hub nor standby lends queue 0 of its interface; plan a restart: millrace down " +
          folder.substr(folder.rfind('/') + 1) + " --run-dir " + folder);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace millrace
