// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <utility>

#include "services/telemetry/exporter.hpp"
#include "shared/control/plan_file.hpp"
#include "tests/places.hpp"
#include "tests/unit/io-worker/ports/capture_files.hpp"
#include "tests/unit/services/telemetry/scraping.hpp"
#include "tests/unit/services/telemetry/watched_topology.hpp"

extern char** environ;

namespace millrace {
namespace {

using test::await_word;
using test::scrape;

// The process itself, against a status file that this test makes as the hub does.
class TelemetryProcess : public testing::Test {
 protected:
  TelemetryProcess() : plan_(test::small_plan("telemetry-test-" + std::to_string(::getpid()))) {
    save_plan(plan_, run_dir_.path("plan.bin"));
  }
  ~TelemetryProcess() override {
    if (pid_ > 0) end(SIGKILL);
    ::shm_unlink(status_file_name(plan_.name).c_str());
  }
  void make_status() {
    memory_ = Mapping::create_status(status_file_name(plan_.name), status_layout(plan_).bytes);
    status_ = StatusView::create(memory_.base(), plan_, 1'000'000'000);
  }
  void start() {
    std::string program = test::programs_folder() / "millrace-telemetry", option = "--run-dir",
                folder = run_dir_.path("");
    char* arguments[] = {program.data(), option.data(), folder.data(), nullptr};
    ASSERT_EQ(posix_spawn(&pid_, program.c_str(), nullptr, nullptr, arguments, environ), 0);
  }
  int end(int signal) {
    ::kill(pid_, signal);
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return status;
  }
  std::string address() { return await_word(telemetry_address_path(run_dir_.path(""))); }

  test::TestFolder run_dir_;
  Plan plan_;
  Mapping memory_;
  StatusView status_;
  pid_t pid_ = -1;
};

TEST_F(TelemetryProcess, WaitsForTheHubThenServesUntilItIsStopped) {
  start();
  ::usleep(200'000);
  make_status();
  const std::string where = address();
  ASSERT_NE(where, "");
  status_.header().recoveries = 42;
  EXPECT_NE(scrape(where).find("millrace_recoveries_total 42"), std::string::npos);
  status_.header().recoveries = 43;
  EXPECT_NE(scrape(where).find("millrace_recoveries_total 43"), std::string::npos);
  EXPECT_EQ(end(SIGTERM), 0);
}

TEST_F(TelemetryProcess, ComesBackAtTheSameAddressAfterAKill) {
  make_status();
  status_.header().recoveries = 7;
  start();
  const std::string where = address();
  ASSERT_NE(where, "");
  const std::string before(reinterpret_cast<const char*>(memory_.base()), memory_.bytes());
  EXPECT_TRUE(WIFSIGNALED(end(SIGKILL)));
  start();
  std::string answer;
  for (int i = 0; i < 200 && answer.empty(); ++i) {
    ::usleep(50'000);
    answer = scrape(where);
  }
  EXPECT_NE(answer.find("millrace_recoveries_total 7"), std::string::npos);
  const std::string after(reinterpret_cast<const char*>(memory_.base()), memory_.bytes());
  EXPECT_EQ(before, after);  // it only reads
}

TEST_F(TelemetryProcess, CanBeStoppedWhileItWaitsForTheHub) {
  // It starts with SIGTERM blocked, as this thread has it: one that comes before it looks is kept.
  // (Its own mask cannot be waited for: the kernel shows it without what is waited for.)
  sigset_t stop, before;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &stop, &before);
  start();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::usleep(200'000);  // for the usual case; either way it has to end well
  EXPECT_EQ(end(SIGTERM), 0);
}

}  // namespace
}  // namespace millrace
