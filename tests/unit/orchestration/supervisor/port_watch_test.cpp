// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/port_watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <net/if.h>

#include <cstdlib>
#include <filesystem>

#include "io-worker/ports/port.hpp"
#include "io-worker/ports/rtnetlink.hpp"
#include "tests/unit/io-worker/ports/veth.hpp"

namespace millrace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

bool nobody(const std::string&) { return false; }

/// Two cables, `here` - `there` and `here2` - `there2`; a port at the first end of each.
class PortWatchTest : public test::VethTest {
 protected:
  void SetUp() override {
    VethTest::SetUp();
    if (IsSkipped()) return;
    make_right();
    char pattern[] = "/tmp/millrace-watch-XXXXXX";
    run_dir_ = mkdtemp(pattern);
    plan_.ports = {{.name = "left", .device = "afpacket"}, {.name = "right", .device = "afpacket"}};
    plan_.ports[0].settings = {{"interface", "here"}, {"follow", "right"}};
    plan_.ports[1].settings = {{"interface", "here2"}, {"follow", "left"}};
    for (const PlanPort& port : plan_.ports) take_port(port, run_dir_, nobody);
    watch_.emplace(plan_, run_dir_, nobody,
                   PortWatch::Hooks{[this](const Event& event) { kinds_.push_back(event.kind); },
                                    [this](std::uint32_t port) { reopened_.push_back(port); }});
  }
  void TearDown() override {
    give_back_interfaces(run_dir_);
    if (!run_dir_.empty()) std::filesystem::remove_all(run_dir_);
    VethTest::TearDown();
  }
  static void make_right() {
    shell("ip link add here2 type veth peer name there2");
    shell("ip link set here2 up && ip link set there2 up");
  }
  /// Some seconds later each time: whatever is waited for is over.
  void look() {
    now_ += std::chrono::seconds(10);
    watch_->tend(now_);
  }
  static bool is_up(const std::string& interface) {
    const auto link = find_link(interface);
    return link && (link->flags & IFF_UP) != 0;
  }
  static void set(const std::string& interface, bool up) {
    ASSERT_EQ(set_up(interface_index(interface), up), 0);
  }
  std::vector<std::string> told() { return std::exchange(kinds_, {}); }

  std::string run_dir_;
  Plan plan_;
  std::optional<PortWatch> watch_;
  std::vector<std::string> kinds_;
  std::vector<std::uint32_t> reopened_;
  PortWatch::Clock::time_point now_ = PortWatch::Clock::now();
};

TEST_F(PortWatchTest, SetsDownWhatFollowsALinkThatIsGone) {
  look();
  EXPECT_THAT(told(), IsEmpty());
  set("there", false);
  look();
  EXPECT_FALSE(is_up("here2"));
  EXPECT_TRUE(is_up("here")) << "what we hold down is no reason";
  EXPECT_THAT(told(), ElementsAre("link_down", "link_held_down"));
  look();
  EXPECT_THAT(told(), IsEmpty());
  set("there", true);
  look();
  EXPECT_TRUE(is_up("here2"));
  EXPECT_THAT(told(), ElementsAre("link_up", "link_let_up"));
  look();
  EXPECT_THAT(told(), ElementsAre("link_up"));
}

TEST_F(PortWatchTest, GivesAnInterfaceThatItSetUpTimeToFindItsCarrier) {
  set("there", false);
  look();
  set("there2", false);  // meanwhile the other cable is pulled too
  set("there", true);
  look();
  EXPECT_TRUE(is_up("here2"));
  now_ += std::chrono::seconds(2);
  watch_->tend(now_);
  EXPECT_TRUE(is_up("here"));
  look();
  EXPECT_FALSE(is_up("here"));
  set("there2", true);
  look();
  EXPECT_TRUE(is_up("here"));
}

TEST_F(PortWatchTest, WhatSomebodySetsUpIsNoLongerHeld) {
  set("there", false);
  look();
  ASSERT_TRUE(is_held_down(run_dir_, "here2"));
  set("here2", true);
  look();
  EXPECT_FALSE(is_up("here2")) << "the other side has still no link";
  give_back_interfaces(run_dir_);
  EXPECT_TRUE(is_up("here2"));
  EXPECT_FALSE(is_held_down(run_dir_, "here2"));
}

TEST_F(PortWatchTest, TakesAnInterfaceAgainThatWasMadeAnew) {
  plan_.ports[0].settings.pop_back();
  plan_.ports[1].settings.pop_back();
  watch_.emplace(plan_, run_dir_, nobody,
                 PortWatch::Hooks{[this](const Event& event) { kinds_.push_back(event.text); },
                                  [this](std::uint32_t port) { reopened_.push_back(port); }});
  shell("ip link del here2");
  look();
  EXPECT_THAT(told(), ElementsAre(HasSubstr("of port 'right' is gone")));
  look();
  EXPECT_THAT(told(), IsEmpty());
  make_right();
  set("here2", false);
  look();
  look();
  EXPECT_THAT(told(), ElementsAre(HasSubstr("is down: ip link set here2 up")));
  EXPECT_THAT(reopened_, IsEmpty());
  set("here2", true);
  look();
  EXPECT_THAT(told(), ElementsAre(HasSubstr("is back: interface here2 taken")));
  EXPECT_THAT(reopened_, ElementsAre(1U));
  give_back_interfaces(run_dir_);
  EXPECT_EQ(find_link("here2")->alias, "");
}

TEST_F(PortWatchTest, AnMtuThatIsNotThePortsIsSaidOnce) {
  std::vector<std::string> said;
  const auto watch = [&] {
    watch_.emplace(
        plan_, run_dir_, nobody,
        PortWatch::Hooks{[&](const Event& event) { said.push_back(event.text); }, {}, {}});
  };
  watch();
  shell("ip link set here mtu 9000");
  look();
  look();
  EXPECT_THAT(said, ElementsAre("interface 'here' has MTU 9000, the mtu of port 'left' is 1500: "
                                "longer packets that arrive there are lost; mtu: 9000 at port "
                                "'left', or ip link set here mtu 1500"));
  said.clear();
  watch();  // as after `adopt`
  look();
  EXPECT_THAT(said, ElementsAre(HasSubstr("has MTU 9000")));
  said.clear();
  shell("ip link set here mtu 1400");
  look();
  EXPECT_THAT(said, ElementsAre(HasSubstr("do not leave there; ip link set here mtu 1500")));
  said.clear();
  shell("ip link set here mtu 1500");
  look();
  EXPECT_THAT(said, ElementsAre(HasSubstr("has the port's MTU again")));
}

TEST_F(PortWatchTest, AnInterfaceThatIsRenamedIsNotGone) {
  std::vector<std::string> renamed;
  watch_.emplace(plan_, run_dir_, nobody,
                 PortWatch::Hooks{[this](const Event& event) { kinds_.push_back(event.text); },
                                  [this](std::uint32_t port) { reopened_.push_back(port); },
                                  [&](const std::string& from, const std::string& to) {
                                    renamed.push_back(from + " " + to);
                                  }});
  shell("ip link set here2 name lan2 && ip link add here2 type bridge && ip link set here2 up");
  look();
  EXPECT_THAT(told(), ElementsAre(HasSubstr("'here2' of port 'right' is called 'lan2' now")));
  look();
  EXPECT_THAT(told(), IsEmpty());
  EXPECT_THAT(reopened_, IsEmpty());
  EXPECT_THAT(renamed, ElementsAre("here2 lan2"));
  EXPECT_EQ(find_link("here2")->alias, "") << "another one has its name";
  set("there", false);  // the right one follows the left one
  look();
  EXPECT_FALSE(is_up("lan2"));
  EXPECT_TRUE(is_up("here2"));
  set("there", true);
  look();
  EXPECT_TRUE(is_up("lan2"));
  told();
  shell("ip link del here2 && ip link set lan2 name here2");
  look();
  EXPECT_THAT(told(), testing::Contains(HasSubstr("is called 'here2' again")));
  shell("ip link set here2 name lan2");  // without a watch
  watch_.emplace(
      plan_, run_dir_, nobody,
      PortWatch::Hooks{[this](const Event& event) { kinds_.push_back(event.kind); }, {}, {}});
  look();
  EXPECT_THAT(told(), testing::Contains("port_renamed"));
  shell("ip link del lan2");
  look();
  EXPECT_THAT(told(), testing::Contains("port_lost"));
}

TEST(PortWatch, HasNothingToDoWithoutInterfaces) {
  Plan plan;
  plan.ports = {{.name = "a", .device = "null"}};
  PortWatch watch(plan, "/nowhere", nobody, {});
  EXPECT_EQ(watch.descriptor(), -1);
  watch.tend(PortWatch::Clock::now());
}

}  // namespace
}  // namespace millrace
