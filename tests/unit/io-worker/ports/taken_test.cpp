// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/taken.hpp"

#include <gmock/gmock.h>
#include <net/if.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/io-worker/ports/capture_files.hpp"
#include "tests/unit/io-worker/ports/veth.hpp"

namespace millrace {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class TakenTest : public test::VethTest {
 protected:
  void mark(const char* interface) const {
    ASSERT_EQ(set_alias(if_nametoindex(interface), std::string(kTakenAlias) + folder_.path("")), 0);
  }
  void note(const char* interface) const {
    append_taken(
        folder_.path(""),
        {.netns = network_namespace(), .index = if_nametoindex(interface), .interface = interface});
  }
  const test::TestFolder folder_;
};

TEST_F(TakenTest, TheRecordIsReadAsItWasWrittenWithoutALineThatAKillCutOff) {
  const std::string run_dir = folder_.path("");
  EXPECT_THAT(read_taken(run_dir), IsEmpty());
  append_taken(run_dir, {.netns = "4026531840",
                         .index = 7,
                         .interface = "here",
                         .own_clsact = true,
                         .rx_queues = 4,
                         .offloads = {"rx-gro", "tx-tcp-segmentation"},
                         .alias = "an alias of three words"});
  std::ofstream(taken_path(run_dir), std::ios::app) << "4026531840 8 the";
  const std::vector<TakenInterface> all = read_taken(run_dir);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].netns, "4026531840");
  EXPECT_EQ(all[0].index, 7u);
  EXPECT_EQ(all[0].interface, "here");
  EXPECT_TRUE(all[0].own_clsact);
  EXPECT_EQ(all[0].rx_queues, 4u);
  EXPECT_THAT(all[0].offloads, ElementsAre("rx-gro", "tx-tcp-segmentation"));
  EXPECT_EQ(all[0].alias, "an alias of three words");
}

TEST_F(TakenTest, AnInterfaceIsKnownByItsIndexWhateverItIsCalled) {
  const std::string run_dir = folder_.path("");
  const std::uint32_t index = if_nametoindex("here");
  EXPECT_EQ(name_now(run_dir, "here"), "here") << "nothing is taken";
  note("here");
  mark("here");
  shell("ip link set here name elsewhere");
  shell("ip link add here type bridge");  // another one has its name
  EXPECT_EQ(taken_index(run_dir, "here"), index);
  EXPECT_EQ(name_now(run_dir, "here"), "elsewhere");
  EXPECT_EQ(name_now(run_dir, "there"), "there");
  shell("ip link del elsewhere");
  EXPECT_EQ(name_now(run_dir, "here"), "here") << "what was taken is gone";
  mark("here");
  note("here");
  EXPECT_NE(taken_index(run_dir, "here"), index) << "the one that was taken last";
}

TEST_F(TakenTest, InAnotherNetworkNamespaceAnIndexMeansNothing) {
  const std::string run_dir = folder_.path("");
  append_taken(run_dir, {.netns = "1", .index = if_nametoindex("there"), .interface = "here"});
  mark("there");
  EXPECT_FALSE(sees_interfaces_of(run_dir));
  EXPECT_FALSE(taken_index(run_dir, "here"));
  EXPECT_EQ(name_now(run_dir, "here"), "here");
  note("here");
  EXPECT_TRUE(sees_interfaces_of(run_dir));
}

}  // namespace
}  // namespace millrace
