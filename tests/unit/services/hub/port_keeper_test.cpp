// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/hub/port_keeper.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "io-worker/ports/afpacket.hpp"
#include "io-worker/ports/kept_file.hpp"
#include "io-worker/ports/tap.hpp"
#include "shared/base/error.hpp"
#include "shared/layout/mapping.hpp"
#include "tests/unit/io-worker/ports/test_pool.hpp"
#include "tests/unit/io-worker/ports/veth.hpp"

namespace millrace {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class PortKeeperTest : public test::VethTest {
 protected:
  void SetUp() override {
    VethTest::SetUp();
    plan_.ports = {test::make_port("null", {}),
                   test::make_port("tap", {{"interface", "mill"}, {"queues", "2"}})};
    packet_port_ = test::make_port("afpacket", {{"interface", "here"}, {"queues_max", "2"}});
    packet_port_.name = "wan";
    std::string pattern = (std::filesystem::temp_directory_path() / "millrace-tap-XXXXXX").string();
    run_dir_ = mkdtemp(pattern.data());
  }
  void TearDown() override {
    std::filesystem::remove_all(run_dir_);
    VethTest::TearDown();
  }
  std::unique_ptr<PortKeeper> keeper(PortKeeper::Part part) const {
    auto taps = std::make_unique<PortKeeper>(plan_, run_dir_, part);
    taps->lend();
    return taps;
  }
  bool lent(std::uint32_t queue) const {
    try {
      return tap_index(borrow_tap(plan_.ports[1], queue, run_dir_)) != 0;
    } catch (const Error&) {
      return false;
    }
  }

  /// An ingress that has opened queue `number`, and ends.
  void leave_socket(std::uint32_t number) const {
    leave_kept(run_dir_, kept_file_name(packet_port_, number), open_packet_socket());
  }
  bool kept(std::uint32_t number) const {
    return bool{borrow_kept(run_dir_, kept_file_name(packet_port_, number))};
  }

  Plan plan_;
  PlanPort packet_port_;
  std::string run_dir_;
};

TEST_F(PortKeeperTest, AnInterfaceLivesAsLongAsHubOrStandby) {
  auto hub = keeper(PortKeeper::Part::kHub), standby = keeper(PortKeeper::Part::kStandby);
  EXPECT_TRUE(lent(0) && lent(1));
  hub.reset();
  EXPECT_TRUE(find_link("mill"));
  EXPECT_TRUE(lent(0) && lent(1)) << "by the standby";
  standby.reset();
  EXPECT_FALSE(find_link("mill"));
  EXPECT_FALSE(lent(0));
}

TEST_F(PortKeeperTest, AnInterfaceIsWatchedWhateverItIsCalled) {
  const auto hub = keeper(PortKeeper::Part::kHub);
  const auto successor = keeper(PortKeeper::Part::kSuccessor);
  for (const auto& one : {hub.get(), successor.get()}) {
    std::vector<bool> told;
    const auto look = [&] {
      one->watch_links([&](const std::string&, bool up) { told.push_back(up); });
      return std::exchange(told, {});
    };
    shell("ip link set mill name other");
    EXPECT_THAT(look(), IsEmpty());
    shell("ip link set other down");
    EXPECT_THAT(look(), ElementsAre(false));
    shell("ip link set other up && ip link set other name mill");
    EXPECT_THAT(look(), ElementsAre(true));
  }
}

TEST_F(PortKeeperTest, AStandbyWithoutAHubSaysSo) {
  EXPECT_THROW(keeper(PortKeeper::Part::kStandby), Error);
  plan_.ports.pop_back();
  EXPECT_NO_THROW(keeper(PortKeeper::Part::kStandby)) << "no tap, nothing to borrow";
}

TEST_F(PortKeeperTest, TheSegmentIsLentByHubAndStandby) {
  plan_.ports.clear();
  const UniqueFd before(::fcntl(kSegmentFd, F_DUPFD_CLOEXEC, 100));
  const UniqueFd segment(::memfd_create("segment", MFD_CLOEXEC));
  ASSERT_EQ(::dup2(segment.get(), kSegmentFd), kSegmentFd);
  for (const auto part : {PortKeeper::Part::kHub, PortKeeper::Part::kStandby}) {
    const auto lender = keeper(part);
    const UniqueFd lent = borrow_kept(run_dir_, kSegmentLoan);
    struct stat mine {
    }, its{};
    ::fstat(segment.get(), &mine);
    ASSERT_EQ(::fstat(lent.get(), &its), 0);
    EXPECT_EQ(its.st_ino, mine.st_ino);
  }
  if (before) {
    ::dup2(before.get(), kSegmentFd);
  } else {
    ::close(kSegmentFd);
  }
}

TEST_F(PortKeeperTest, SocketsThatReadersLeaveOutliveHubAndStandbyInTurn) {
  plan_.ports = {packet_port_};
  auto hub = keeper(PortKeeper::Part::kHub);
  EXPECT_FALSE(kept(0));
  leave_socket(0);
  EXPECT_TRUE(kept(0));
  auto standby = keeper(PortKeeper::Part::kStandby);
  leave_socket(1);  // that it might get by queues_max
  leave_socket(2);
  hub.reset();
  EXPECT_TRUE(kept(0)) << "the standby had it from the hub";
  EXPECT_TRUE(kept(1)) << "it was left with the standby too";
  EXPECT_FALSE(kept(2)) << "the port never has so many queues";
  standby.reset();
  EXPECT_FALSE(kept(0));
}

TEST_F(PortKeeperTest, AHubsSuccessorHasWhatItHad) {
  plan_.ports = {packet_port_};
  auto hub = keeper(PortKeeper::Part::kHub);
  leave_socket(0);
  PortKeeper successor(plan_, run_dir_, PortKeeper::Part::kSuccessor);
  hub.reset();
  EXPECT_FALSE(kept(0));
  successor.lend();
  EXPECT_TRUE(kept(0));
}

TEST_F(PortKeeperTest, SomebodyWhoBringsTheInterfaceDownIsTold) {
  const auto hub = keeper(PortKeeper::Part::kHub);
  std::vector<std::string> told;
  const auto look = [&] {
    told.clear();
    hub->watch_links(
        [&](const std::string& port, bool up) { told.push_back(port + (up ? " up" : " down")); });
    return told;
  };
  EXPECT_THAT(look(), IsEmpty());
  shell("ip link set mill down");
  EXPECT_THAT(look(), ElementsAre("lan down"));
  EXPECT_THAT(look(), IsEmpty());
  shell("ip link set mill up");
  EXPECT_THAT(look(), ElementsAre("lan up"));
}

}  // namespace
}  // namespace millrace
