// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/supervisor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "orchestration/supervisor/end_of_input.hpp"
#include "orchestration/supervisor/observers.hpp"
#include "orchestration/supervisor/reopening.hpp"
#include "orchestration/supervisor/start_order.hpp"
#include "orchestration/supervisor/status_report.hpp"
#include "orchestration/supervisor/stop_order.hpp"
#include "orchestration/supervisor/takeover.hpp"
#include "shared/base/error.hpp"
#include "shared/control/plan_file.hpp"
#include "shared/control/run_files.hpp"
#include "tests/unit/orchestration/supervisor/scripts.hpp"
#include "tests/unit/orchestration/supervisor/small_plan.hpp"
#include "tests/unit/support/error_of.hpp"

namespace millrace {
namespace {

using test::error_of;

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr milliseconds kAnswer{10'000};

/// Start, requests and stop, with scripts in place of our programs. The hub's script brings a
/// status file in which all are alive.
class SupervisorTest : public testing::Test {
 public:
  ~SupervisorTest() override {
    for (const FoundProcess& process : find_processes(run_dir_)) ::kill(process.pid, SIGKILL);
    destroy_shared_memory(plan_.name);
    fs::remove_all(folder_);
  }

 protected:
  SupervisorTest() {
    char pattern[] = "/tmp/millrace-supervisor-XXXXXX";
    folder_ = ::mkdtemp(pattern);
    run_dir_ = folder_ + "/run";
    // Scripts then look like our programs in /proc.
    fs::create_symlink("/bin/sh", folder_ + "/millrace-shell");
    // Without children: between fork and exec they would look like one more of our programs.
    ::mkfifo((folder_ + "/never").c_str(), 0600);
    const std::string wait =
        "trap 'exit 0' TERM; exec 3<>" + folder_ + "/never; while :; do read x <&3; done";
    for (const char* part : {"io-worker", "classifier", "gpu-worker"}) program(part, wait);
    program("telemetry", "echo 127.0.0.1:9 > $2/telemetry.address; " + wait);
    program("hub", "if [ $4 = 0 ]; then cp " + folder_ + "/status /dev/shm" +
                       status_file_name(plan_.name) + "; touch $2/hub.ready; fi; " + wait);
    std::ofstream(folder_ + "/status", std::ios::binary) << status_with_all_alive();
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  }
  /// A supervisor that takes what runs over only to stop it leaves nothing.
  void expect_stops_for_another() {
    Supervisor supervisor(load_plan(plan_path(run_dir_)), options());
    supervisor.adopt_to_stop();
    supervisor.stop();
    while (::waitpid(-1, nullptr, WNOHANG) > 0) continue;
    EXPECT_TRUE(find_processes(run_dir_).empty());
    EXPECT_FALSE(fs::exists(run_dir_));
  }
  void program(const std::string& part, const std::string& script) const {
    test::write_script(folder_, part, script, folder_ + "/millrace-shell");
  }
  std::string status_with_all_alive() const {
    const Mapping memory = Mapping::create_anonymous(status_layout(plan_).bytes);
    const StatusView view = StatusView::create(memory.base(), plan_, 1'000'000'000);
    for (std::uint32_t actor = 0; actor < plan_.actors.size(); ++actor) {
      if (!plan_.actors[actor].at_start) continue;
      view.actor(actor).state = static_cast<std::uint32_t>(ActorState::kAlive);
    }
    return {reinterpret_cast<const char*>(memory.base()), memory.bytes()};
  }
  SupervisorOptions options() {
    return {.run_dir = run_dir_,
            .folder = folder_,
            .step = [this](const std::string& what, double) { steps_.push_back(what); },
            .event = [](const Event&) {}};
  }
  /// The scripts cannot say that their ports are open: a thread does so in their place, a while
  /// after they are alive.
  void start(Supervisor& supervisor) {
    std::atomic<bool> started{false}, told{false};
    std::thread ports([&] {
      std::this_thread::sleep_for(milliseconds(300));
      told = true;
      for (std::uint32_t actor = 0; actor < plan_.actors.size(); ++actor) {
        ControlClient client(run_dir_, kSupervisorEndpoint, actor_peer(actor));
        while (!started && !client.send(Ready{actor})) std::this_thread::yield();
      }
      while (!started) std::this_thread::sleep_for(milliseconds(1));
    });
    try {
      supervisor.start();
    } catch (...) {
      started = true;
      ports.join();
      throw;
    }
    EXPECT_TRUE(told) << "runs before its ports are open";
    started = true;
    ports.join();
  }

  Plan plan_ = test::small_plan("supervisor-" + std::to_string(::getpid()));
  std::string folder_, run_dir_;
  std::vector<std::string> steps_;
};

TEST_F(SupervisorTest, StartsInOrderAnswersAndStopsInOrder) {
  Supervisor supervisor(plan_, options());
  start(supervisor);
  EXPECT_THAT(steps_,
              ElementsAre("run directory " + run_dir_, "hub: segment and status file are there",
                          "standby: 1 alive", "egress: 1 alive", "workers: 2 alive",
                          "ingress: 1 alive", "running: 7 processes"));
  steps_.clear();
  std::thread asking([&] {
    ControlClient client(run_dir_, kSupervisorEndpoint);
    const auto status = client.request_for<StatusReply>(StatusRequest{}, kAnswer);
    EXPECT_EQ(status.topology, plan_.name);
    EXPECT_EQ(status.phase, "running");
    ASSERT_EQ(status.actors.size(), 9U);
    EXPECT_EQ(status.actors[3].name + " " + status.actors[3].state, "front.0 alive");
    EXPECT_GT(status.actors[3].pid, 0);
    EXPECT_EQ(status.actors[4].name + " " + status.actors[4].state, "front.1 vacant");
    EXPECT_EQ(status.actors[4].pid, 0);
    EXPECT_EQ(error_of([&] { client.request(AuditRequest{}, kAnswer); }),
              "supervisor: `audit` is not for the supervisor");
    client.request(DownRequest{}, kAnswer);
  });
  supervisor.run();
  asking.join();
  supervisor.stop();
  EXPECT_THAT(steps_, ElementsAre("ingress stopped", "workers stopped", "egress stopped",
                                  "standby stopped", "hub stopped", "stopped"));
  EXPECT_TRUE(find_processes(run_dir_).empty());
  EXPECT_FALSE(fs::exists(run_dir_));
}

TEST_F(SupervisorTest, RefusesScalesThatCannotBe) {
  Supervisor supervisor(plan_, options());
  start(supervisor);
  std::thread asking([&] {
    ControlClient client(run_dir_, kSupervisorEndpoint);
    const auto scale = [&](const std::string& group, std::uint32_t count) {
      return error_of([&] { client.request(ChangeRequest{.scale = {{group, count}}}, kAnswer); });
    };
    EXPECT_EQ(scale("frnt", 1),
              "supervisor: no group 'frnt'; there are: front, gpu; did you mean 'front'?");
    EXPECT_EQ(scale("front", 3), "supervisor: group 'front' can have 1 to 2 workers, not 3");
    EXPECT_EQ(scale("front", 0), "supervisor: group 'front' can have 1 to 2 workers, not 0");
    const ChangeRequest same{.scale = {{"front", 1}}};
    EXPECT_THAT(client.request_for<ChangeReply>(same, kAnswer).lines,
                ElementsAre("front: 1 -> 1 workers"));
    client.request(DownRequest{}, kAnswer);
  });
  supervisor.run();
  asking.join();
  supervisor.stop();
}

TEST_F(SupervisorTest, TellsTheLogOfWhoFailedAtTheStartAndStopsTheRest) {
  program("classifier", "echo 'no table for route' >&2; exit 1");
  // Its entry does not become alive either.
  plan_.actors[3].at_start = false;
  const std::string status = status_with_all_alive();
  plan_.actors[3].at_start = true;
  std::ofstream(folder_ + "/status", std::ios::binary) << status;
  Supervisor supervisor(plan_, options());
  EXPECT_EQ(error_of([&] { supervisor.start(); }),
            "front.0 exited with 1 at its start\nno table for route");
  EXPECT_TRUE(find_processes(run_dir_).empty());
  EXPECT_FALSE(fs::exists(plan_path(run_dir_)));
  EXPECT_TRUE(fs::exists(run_dir_ + "/logs/front.0.log"));
}

TEST_F(SupervisorTest, TellsTheLogOfAHubThatFailed) {
  program("hub", "echo 'too few huge pages' >&2; exit 1");
  Supervisor supervisor(plan_, options());
  EXPECT_EQ(error_of([&] { supervisor.start(); }), "hub exited with 1\ntoo few huge pages");
}

TEST_F(SupervisorTest, TelemetryThatCannotListenFailsTheStartWithItsReason) {
  program("telemetry", "echo 'it cannot listen' >&2; exit 1");
  Supervisor supervisor(plan_, options());
  EXPECT_EQ(error_of([&] { start(supervisor); }),
            "telemetry exited with 1 at its start\nit cannot listen");
  EXPECT_TRUE(find_processes(run_dir_).empty());
}

TEST_F(SupervisorTest, ARefusedStartLeavesNothing) {
  const UniqueFd taken(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in name{};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof name;
  auto* const address = reinterpret_cast<sockaddr*>(&name);
  ASSERT_EQ(::bind(taken.get(), address, bytes), 0);
  ASSERT_EQ(::getsockname(taken.get(), address, &bytes), 0);
  plan_.telemetry_listen = "127.0.0.1:" + std::to_string(ntohs(name.sin_port));
  Supervisor supervisor(plan_, options());
  EXPECT_THAT(error_of([&] { supervisor.start(); }), HasSubstr("is in use"));
  EXPECT_FALSE(fs::exists(run_dir_));
}

TEST_F(SupervisorTest, OfATableThatCannotBeBuiltNothingButTheBuildersLogIsLeft) {
  program("builder", "echo no such file >&2; exit 3");
  plan_.functions = {{.name = "way", .type = "route", .image = folder_ + "/image"}};
  Supervisor supervisor(plan_, options());
  EXPECT_THAT(error_of([&] { supervisor.start(); }), HasSubstr("no such file"));
  std::vector<std::string> left;
  for (const auto& entry : fs::recursive_directory_iterator(run_dir_)) {
    if (!entry.is_directory()) left.push_back(entry.path().filename());
  }
  EXPECT_THAT(left, testing::UnorderedElementsAre("supervisor.lock", "builder.way.log"));
}

TEST_F(SupervisorTest, LeavesARunningTopologyToItsSuccessor) {
  {
    Supervisor first(plan_, options());
    start(first);
    EXPECT_THAT(error_of([&] { Supervisor(plan_, options()); }), HasSubstr("already runs in"));
    SupervisorOptions elsewhere = options();
    elsewhere.run_dir = folder_ + "/elsewhere";
    EXPECT_THAT(error_of([&] { Supervisor(plan_, elsewhere); }),
                HasSubstr("already runs in " + run_dir_));
  }
  EXPECT_EQ(find_processes(run_dir_).size(), 7U);
  Supervisor second(load_plan(plan_path(run_dir_)), options());
  EXPECT_THAT(error_of([&] { second.start(); }), HasSubstr("without supervisor (7 processes)"));
  second.adopt();
  EXPECT_EQ(steps_.back(), "taken over: 7 processes");
  second.stop();
  // They are the children of this process, though not of the second supervisor.
  while (::waitpid(-1, nullptr, WNOHANG) > 0) continue;
  EXPECT_TRUE(find_processes(run_dir_).empty());
  EXPECT_FALSE(fs::exists(run_dir_));
}

TEST_F(SupervisorTest, ATopologyWithoutAReadyHubIsNotTakenOverButStopped) {
  {
    Supervisor first(plan_, options());
    start(first);
  }
  fs::remove(hub_ready_path(run_dir_));
  {
    Supervisor second(load_plan(plan_path(run_dir_)), options());
    EXPECT_THAT(error_of([&] { second.adopt(); }), HasSubstr("while it started; end it"));
  }
  expect_stops_for_another();
}

TEST_F(SupervisorTest, WithABrokenStateItIsNotTakenOverButStopped) {
  {
    Supervisor first(plan_, options());
    start(first);
  }
  std::ofstream(run_state_path(run_dir_)) << "front.0 up 1\n";
  {
    Supervisor second(load_plan(plan_path(run_dir_)), options());
    EXPECT_THAT(error_of([&] { second.adopt(); }), HasSubstr("rm " + run_state_path(run_dir_)));
  }
  EXPECT_EQ(find_processes(run_dir_).size(), 7U) << "traffic goes on";
  expect_stops_for_another();
}

TEST_F(SupervisorTest, WhatAnOlderBuildHasLeftIsNotTakenOverButStopped) {
  {
    Supervisor first(plan_, options());
    start(first);
  }
  fs::remove(run_state_path(run_dir_));
  for (const char* name : {"/supervisor.posts", "/control.remote", "/history/deadline"}) {
    std::ofstream(run_dir_ + name) << "x";
    Supervisor second(load_plan(plan_path(run_dir_)), options());
    EXPECT_EQ(error_of([&] { second.adopt(); }),
              run_dir_ + name + ": of an older build, which this one cannot go on from: adopt " +
                  "with that build, or plan a restart");
    fs::remove(run_dir_ + name);
  }
  EXPECT_EQ(find_processes(run_dir_).size(), 7U) << "traffic goes on";
  std::ofstream(run_dir_ + "/supervisor.posts") << "x";
  expect_stops_for_another();
}

TEST_F(SupervisorTest, HasNothingToTakeOverWhereNothingRuns) {
  Supervisor supervisor(plan_, options());
  EXPECT_THAT(error_of([&] { supervisor.adopt(); }), HasSubstr("nothing of topology"));
}

TEST_F(SupervisorTest, EndsOnSigterm) {
  Supervisor supervisor(plan_, options());
  start(supervisor);
  ::kill(::getpid(), SIGTERM);
  supervisor.run();
  supervisor.stop();
  EXPECT_TRUE(find_processes(run_dir_).empty());
}

}  // namespace
}  // namespace millrace
