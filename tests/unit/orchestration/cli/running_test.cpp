// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/running.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "shared/base/error.hpp"
#include "shared/control/plan_file.hpp"
#include "tests/unit/support/error_of.hpp"

namespace millrace {
namespace {

using test::error_of;

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class Running : public testing::Test {
 protected:
  Running() {
    char pattern[] = "/tmp/millrace-running-XXXXXX";
    folder_ = ::mkdtemp(pattern);
    fs::create_directories(folder_ + "/demo");
    std::ofstream(folder_ + "/demo/plan.bin") << "x";
  }
  ~Running() override { fs::remove_all(folder_); }

  std::string folder_;
};

TEST_F(Running, IsFoundByItsRunDirectory) {
  EXPECT_EQ(running_dir({.name = "demo", .run_dir = folder_ + "/demo"}), folder_ + "/demo");
  EXPECT_EQ(error_of([&] { running_dir({.name = "dmo", .run_dir = folder_ + "/dmo"}); }),
            "topology 'dmo' does not run: nothing in " + folder_ + "/dmo; these run: demo");
}

TEST_F(Running, IsNotAnotherTopologyInItsPlace) {
  save_plan({.name = "demo"}, folder_ + "/demo/plan.bin");
  EXPECT_EQ(running_dir({.name = "demo", .run_dir = folder_ + "/demo"}), folder_ + "/demo");
  EXPECT_EQ(error_of([&] { running_dir({.name = "dmo", .run_dir = folder_ + "/demo"}); }),
            "in " + folder_ + "/demo runs topology 'demo', not 'dmo'");
}

TEST_F(Running, IsOneByWhateverLinkItIsNamed) {
  fs::create_directory_symlink(folder_, folder_ + "/link");
  EXPECT_EQ(running_dir({.name = "demo", .run_dir = folder_ + "/link/demo"}), folder_ + "/demo");
}

TEST_F(Running, SaysAtOnceThatNothingIsLeftToAsk) {
  save_plan({.name = "demo"}, folder_ + "/demo/plan.bin");
  EXPECT_EQ(error_of([&] { require_supervisor(folder_ + "/demo"); }),
            "nothing runs in " + folder_ +
                "/demo any more; clear what it left: millrace down demo "
                "--run-dir " +
                folder_ + "/demo");
}

StatusReply sample_status() {
  return {.topology = "demo",
          .phase = "running",
          .run_dir = "/run/millrace/demo",
          .up_ns = 7'500'000'000,
          .actors = {{3, "front.0", "alive", 42, 2, 1, 1000, 20, 12, "killed by signal 9"},
                     {4, "front.1", "vacant", 0, 0, 0, 0, 0, 900, ""}},
          .events = {{Severity::kWarning, "worker_exited", 3, "front.0 ended", 42, 1}}};
}

TEST(StatusText, HasALineForEachActorAndEvent) {
  const std::string text = status_text(sample_status(), false);
  EXPECT_THAT(text, HasSubstr("topology demo: running for 7 s in /run/millrace/demo\n"));
  EXPECT_THAT(text, HasSubstr("front.0             alive             42         1            20"
                              "            1000       12 ms  last: killed by signal 9\n"));
  EXPECT_THAT(text, HasSubstr("front.1             vacant             -"));
  EXPECT_THAT(text, HasSubstr("warning front.0 ended\n"));
  EXPECT_THAT(text, Not(HasSubstr("\033")));
  EXPECT_THAT(status_text(sample_status(), true), HasSubstr("\033[32malive"));
}

TEST(StatusText, KeepsAStateApartFromALongName) {
  StatusReply status = sample_status();
  status.actors[0].name = "ingress.building-7-uplink-north.0";
  EXPECT_THAT(status_text(status, false), HasSubstr("uplink-north.0 alive  "));
}

TEST(StatusJson, HasTheSameAsNumbers) {
  const auto json = status_json(sample_status());
  EXPECT_EQ(json["topology"], "demo");
  EXPECT_EQ(json["up_seconds"], 7.5);
  EXPECT_EQ(json["actors"][0]["pid"], 42);
  EXPECT_EQ(json["actors"][0]["packets"], 1000);
  EXPECT_EQ(json["actors"][0]["last_end"], "killed by signal 9");
  EXPECT_EQ(json["events"][0]["severity"], "warning");
  EXPECT_EQ(json["events"][0]["kind"], "worker_exited");
}

AuditReply sample_audit() {
  return {.by = "hub",
          .exact = false,
          .quiet = false,
          .received = 100,
          .transmitted = 80,
          .in_flight = 3,
          .unaccounted = 4,
          .loops = {{"again", 2}},
          .dropped = {{"no_route", 9}, {"rule", 4}},
          .slots = {{"free", 60}},
          .lanes = {{1, 2, 3, 4, 5, 6}},
          .problems = {"4 packets are unaccounted for"}};
}

TEST(AuditText, AddsUpAndNamesTheProblems) {
  const std::string text = audit_text(sample_audit(), false);
  EXPECT_THAT(text, HasSubstr("dropped                               13\n"
                              "  no_route                             9\n"));
  EXPECT_THAT(text, HasSubstr("problem: 4 packets are unaccounted for\n"
                              "audit by hub: NOT EXACT (live"));
  EXPECT_THAT(text, HasSubstr("in flight                              3\n"
                              "  in loop again                        2\n"));
  AuditReply good;
  good.exact = good.quiet = true;
  good.by = "standby";
  EXPECT_THAT(audit_text(good, false), testing::EndsWith("audit by standby: exact\n"));
  EXPECT_THAT(audit_text(good, true), HasSubstr("\033[32mexact"));
}

TEST(AuditJson, HasTheSameAsNumbers) {
  const auto json = audit_json(sample_audit());
  EXPECT_EQ(json["exact"], false);
  EXPECT_EQ(json["dropped_total"], 13);
  EXPECT_EQ(json["dropped"]["rule"], 4);
  EXPECT_EQ(json["loops"]["again"], 2);
  EXPECT_EQ(json["lanes"][0]["in_flight"], 6);
  EXPECT_EQ(json["problems"][0], "4 packets are unaccounted for");
}

}  // namespace
}  // namespace millrace
