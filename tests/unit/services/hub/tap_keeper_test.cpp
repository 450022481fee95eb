// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/hub/tap_keeper.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <memory>

#include "io-worker/ports/tap.hpp"
#include "shared/base/error.hpp"
#include "tests/unit/io-worker/ports/test_pool.hpp"
#include "tests/unit/io-worker/ports/veth.hpp"

namespace millrace {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class TapKeeperTest : public test::VethTest {
 protected:
  void SetUp() override {
    VethTest::SetUp();
    plan_.ports = {test::make_port("null", {}),
                   test::make_port("tap", {{"interface", "mill"}, {"queues", "2"}})};
    std::string pattern = (std::filesystem::temp_directory_path() / "millrace-tap-XXXXXX").string();
    run_dir_ = mkdtemp(pattern.data());
  }
  void TearDown() override {
    std::filesystem::remove_all(run_dir_);
    VethTest::TearDown();
  }
  std::unique_ptr<TapKeeper> keeper(TapKeeper::Part part) const {
    auto taps = std::make_unique<TapKeeper>(plan_, run_dir_, part);
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

  Plan plan_;
  std::string run_dir_;
};

TEST_F(TapKeeperTest, AnInterfaceLivesAsLongAsHubOrStandby) {
  auto hub = keeper(TapKeeper::Part::kHub), standby = keeper(TapKeeper::Part::kStandby);
  EXPECT_TRUE(lent(0) && lent(1));
  hub.reset();
  EXPECT_TRUE(find_link("mill"));
  EXPECT_TRUE(lent(0) && lent(1)) << "by the standby";
  standby.reset();
  EXPECT_FALSE(find_link("mill"));
  EXPECT_FALSE(lent(0));
}

TEST_F(TapKeeperTest, AStandbyWithoutAHubSaysSo) {
  EXPECT_THROW(keeper(TapKeeper::Part::kStandby), Error);
  plan_.ports.pop_back();
  EXPECT_NO_THROW(keeper(TapKeeper::Part::kStandby)) << "no tap, nothing to keep";
  EXPECT_TRUE(std::filesystem::is_empty(run_dir_));
}

TEST_F(TapKeeperTest, SomebodyWhoBringsTheInterfaceDownIsTold) {
  const auto hub = keeper(TapKeeper::Part::kHub);
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
