// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/run_dir.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include "orchestration/supervisor/child.hpp"
#include "shared/base/error.hpp"
#include "shared/base/process.hpp"
#include "shared/control/plan_file.hpp"
#include "shared/control/run_files.hpp"
#include "shared/layout/status_layout.hpp"

namespace millrace {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class RunDir : public testing::Test {
 protected:
  RunDir() {
    char pattern[] = "/tmp/millrace-run-XXXXXX";
    folder_ = ::mkdtemp(pattern);
    run_dir_ = folder_ + "/run";
    make_run_dir(run_dir_);
    ::mkfifo((folder_ + "/never").c_str(), 0600);
  }
  ~RunDir() override { fs::remove_all(folder_); }

  /// A process whose command line looks like one of ours.
  Child dummy(const std::string& program, std::vector<std::string> arguments) const {
    const std::string path = folder_ + "/" + program;
    if (!fs::exists(path)) fs::create_symlink("/bin/sh", path);
    // Waits without children: between fork and exec they would have its command line.
    const std::string wait = "exec 3<>" + folder_ + "/never; while :; do read x <&3; done";
    arguments.insert(arguments.begin(), {"-c", wait});
    return Child::start({path, arguments}, folder_ + "/log");
  }
  static void end(Child& child) {
    child.signal(SIGKILL);
    child.wait(10'000);
  }

  std::string folder_, run_dir_;
};

TEST_F(RunDir, IsClosedToOthersAndHasRoomForLogs) {
  struct stat info {};
  ASSERT_EQ(::stat(run_dir_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700U);
  EXPECT_TRUE(fs::is_directory(run_dir_ + "/logs"));
}

TEST_F(RunDir, IsNoFolderOfSomebodyElse) {
  EXPECT_NO_THROW(refuse_foreign_dir(run_dir_));
  EXPECT_NO_THROW(refuse_foreign_dir(folder_ + "/not/there"));
  const std::string foreign = folder_ + "/foreign";
  fs::create_directory(foreign);
  EXPECT_NO_THROW(refuse_foreign_dir(foreign)) << "empty";
  std::ofstream(foreign + "/history") << "mine";
  EXPECT_THROW(refuse_foreign_dir(foreign), Error);
}

TEST_F(RunDir, NamesADirectoryThatCannotBeMade) {
  std::ofstream(folder_ + "/file") << "x";
  try {
    make_run_dir(folder_ + "/file/run");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("make run directory " + folder_ + "/file/run"));
  }
}

TEST_F(RunDir, IsWhereTheUserMayWrite) {
  const std::string expected =
      ::geteuid() == 0 ? "/run/millrace/branch" : "/tmp/xdg/millrace/branch";
  ::setenv("XDG_RUNTIME_DIR", "/tmp/xdg", 1);
  EXPECT_EQ(run_dir_of("branch", ""), expected);
  EXPECT_EQ(run_dir_of("branch", "/tmp/a/../b/"), "/tmp/b");
  EXPECT_EQ(run_dir_of("branch", "relative"), fs::current_path().string() + "/relative");
}

TEST(RunDirOf, ANameThatCannotBeATopologysIsRefused) {
  const auto error = [](const std::string& name, const std::string& given) -> std::string {
    try {
      run_dir_of(name, given);
    } catch (const Error& refused) {
      return refused.what();
    }
    return "";
  };
  for (const std::string name : {"../x", "/etc", "", ".", "a/b", "a b", "x.yaml", "7up"}) {
    EXPECT_THAT(error(name, ""), HasSubstr("'" + name + "' is no name of a topology")) << name;
  }
  EXPECT_THAT(error(std::string(300, 'x'), ""),
              HasSubstr("'" + std::string(48, 'x') + "...' is no name of a topology"));
  EXPECT_EQ(error("x.yaml", "/tmp/b"), "") << "then the directory counts";
}

TEST_F(RunDir, FindsItsProcessesByTheirCommandLines) {
  Child worker = dummy("millrace-classifier", {"--run-dir", run_dir_, "--actor", "7"});
  Child telemetry = dummy("millrace-telemetry", {"--run-dir=" + run_dir_});
  Child elsewhere = dummy("millrace-classifier", {"--run-dir", run_dir_ + "2", "--actor", "7"});
  Child stranger = dummy("classifier", {"--run-dir", run_dir_, "--actor", "7"});
  std::vector<FoundProcess> found;
  // Between fork and exec a process has its parent's command line.
  for (int wait = 0; wait < 1000 && found.size() < 2; ++wait) {
    found = find_processes(run_dir_);
    ::usleep(5000);
  }
  ASSERT_EQ(found.size(), 2U);
  const std::size_t first = found[0].actor == 7 ? 0 : 1;
  EXPECT_EQ(found[first].pid, worker.pid());
  EXPECT_EQ(found[first].start_time, worker.start_time());
  EXPECT_EQ(found[first].program, "millrace-classifier");
  EXPECT_EQ(found[1 - first].pid, telemetry.pid());
  EXPECT_EQ(found[1 - first].actor, -1);
  for (Child* child : {&worker, &telemetry, &elsewhere, &stranger}) end(*child);
  EXPECT_TRUE(find_processes(run_dir_).empty());
}

TEST_F(RunDir, DoesNotFindAnEndedProcessThatNobodyWaitedFor) {
  Child worker = dummy("millrace-classifier", {"--run-dir", run_dir_, "--actor", "7"});
  worker.signal(SIGKILL);
  pollfd item{worker.descriptor(), POLLIN, 0};
  ASSERT_EQ(::poll(&item, 1, 10'000), 1);
  EXPECT_TRUE(find_processes(run_dir_).empty());
}

TEST_F(RunDir, HasOneSupervisorAtMost) {
  EXPECT_EQ(SupervisorLock::holder(run_dir_), 0);
  {
    const SupervisorLock lock(run_dir_);
    EXPECT_EQ(SupervisorLock::holder(run_dir_), ::getpid());
    try {
      const SupervisorLock second(run_dir_);
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("(pid " + std::to_string(::getpid()) + ") already runs"));
    }
  }
  EXPECT_EQ(SupervisorLock::holder(run_dir_), 0);
  const SupervisorLock again(run_dir_);
}

TEST_F(RunDir, WaitsForALockOfSomebodyWhoOnlyCleansUp) {
  auto passing = SupervisorLock::attempt(run_dir_);
  ASSERT_TRUE(passing);
  EXPECT_FALSE(SupervisorLock::attempt(run_dir_));
  std::thread cleaning([&] {
    ::usleep(50'000);
    remove_run_dir(run_dir_, "unit-none");
    passing.reset();
  });
  const SupervisorLock lock(run_dir_);
  cleaning.join();
  // On the directory that is there, not on the one that was removed.
  EXPECT_EQ(SupervisorLock::holder(run_dir_), ::getpid());
}

TEST_F(RunDir, IsCleanedOfWhatAnEndedTopologyLeaves) {
  const std::string name = "unit-" + std::to_string(::getpid());
  Plan plan;
  plan.name = name;
  plan.groups.resize(1);
  plan.functions.resize(2);
  plan.functions[0].image = folder_ + "/image";
  fs::create_directory(run_dir_ + "/history");
  save_plan(plan, plan_path(run_dir_));
  std::ofstream(plan.functions[0].image) << "x";
  Plan next = plan;  // its supervisor died while that was built
  next.functions[0].image = folder_ + "/next-image";
  save_plan(next, next_plan_path(run_dir_));
  std::ofstream(next.functions[0].image) << "x";
  for (const char* file :
       {"hub.ready", "control.hub", "files.hub", "telemetry.address", "logs/hub.log",
        "history/list", "lost.pcapng", "supervisor.state", "supervisor.state.tmp",
        "supervisor.posts", "supervisor.posts.tmp", "stopping", "supervisor.lock"}) {
    std::ofstream(run_dir_ + "/" + file) << "x";
  }
  EXPECT_FALSE(is_record(run_dir_)) << "it may run";
  std::ofstream(run_dir_ + "/notes.txt") << "the user's own";
  std::ofstream(run_dir_ + ".telemetry.json") << "[]";
  const UniqueFd status(::shm_open(status_file_name(name).c_str(), O_CREAT | O_RDWR, 0600));
  ASSERT_TRUE(status);

  clean_run_dir(run_dir_, name, Keep::kRecord);
  EXPECT_TRUE(is_record(run_dir_));
  EXPECT_TRUE(fs::exists(run_dir_ + "/lost.pcapng"));
  EXPECT_FALSE(fs::exists(run_dir_ + "/supervisor.state"));
  EXPECT_FALSE(fs::exists(run_dir_ + "/supervisor.state.tmp"));
  for (const char* of_older_builds : {"supervisor.posts", "supervisor.posts.tmp", "stopping"}) {
    EXPECT_FALSE(fs::exists(run_dir_ + "/" + of_older_builds)) << of_older_builds;
  }
  EXPECT_TRUE(fs::exists(run_dir_ + "/supervisor.lock"));
  std::ofstream(run_dir_ + "/plan.bin.plan") << "x";
  EXPECT_FALSE(is_record(run_dir_)) << "of a planned restart";
  clean_run_dir(run_dir_, name, Keep::kLogs);
  EXPECT_FALSE(is_record(run_dir_));
  EXPECT_FALSE(fs::exists(run_dir_ + "/lost.pcapng"));
  EXPECT_FALSE(fs::exists(plan.functions[0].image));
  EXPECT_FALSE(fs::exists(next.functions[0].image));
  EXPECT_FALSE(fs::exists("/dev/shm" + status_file_name(name)));
  EXPECT_FALSE(fs::exists(plan_path(run_dir_)));
  EXPECT_FALSE(fs::exists(hub_ready_path(run_dir_)));
  EXPECT_FALSE(fs::exists(run_dir_ + "/control.hub"));
  EXPECT_FALSE(fs::exists(run_dir_ + "/files.hub"));
  EXPECT_FALSE(fs::exists(run_dir_ + "/telemetry.address"));
  EXPECT_FALSE(fs::exists(run_dir_ + ".telemetry.json"));
  EXPECT_TRUE(fs::exists(run_dir_ + "/logs/hub.log"));
  EXPECT_TRUE(fs::exists(run_dir_ + "/notes.txt"));

  clean_run_dir(run_dir_, name, Keep::kNothing);
  EXPECT_FALSE(fs::exists(run_dir_ + "/logs"));
  remove_run_dir(run_dir_, name);
  EXPECT_TRUE(fs::exists(run_dir_ + "/notes.txt"));
  fs::remove(run_dir_ + "/notes.txt");
  remove_run_dir(run_dir_, name);
  EXPECT_FALSE(fs::exists(run_dir_));
}

TEST_F(RunDir, OfARefusedStartGoesUnlessSomethingIsInIt) {
  const std::string log = run_dir_ + "/logs/builder.route.log";
  {
    const SupervisorLock lock(run_dir_);
    std::ofstream(log) << "broken";
    remove_empty_run_dir(run_dir_);
    EXPECT_TRUE(fs::exists(log));
    EXPECT_TRUE(fs::exists(run_dir_ + "/supervisor.lock"));
    fs::remove(log);
    std::ofstream(run_dir_ + "/mine");
    remove_empty_run_dir(run_dir_);
    EXPECT_TRUE(fs::exists(run_dir_ + "/mine"));
    fs::remove(run_dir_ + "/mine");
    remove_empty_run_dir(run_dir_);
    EXPECT_FALSE(fs::exists(run_dir_));
  }
  remove_empty_run_dir(run_dir_);  // not there: nothing to do
  EXPECT_FALSE(fs::exists(run_dir_));
}

TEST_F(RunDir, OfTheDeadIsRemovedAndOfTheLivingIsNot) {
  const std::string dead = "unit-dead-" + std::to_string(::getpid());
  for (const std::string& name : {dead, std::string("supervised"), std::string("orphaned")}) {
    make_run_dir(folder_ + "/" + name);
    std::ofstream(folder_ + "/" + hub_ready_path(name)) << "ready\n";
  }
  const UniqueFd status(::shm_open(status_file_name(dead).c_str(), O_CREAT | O_RDWR, 0600));
  ASSERT_TRUE(status);
  std::ofstream(folder_ + "/file") << "x";
  fs::create_directories(folder_ + "/ended/history");
  std::ofstream(folder_ + "/ended/history/list") << "1 0 - start";
  const SupervisorLock supervisor(folder_ + "/supervised");
  Child worker = dummy("millrace-hub", {"--run-dir", folder_ + "/orphaned", "--actor", "0"});
  while (find_processes(folder_ + "/orphaned").empty()) ::usleep(5000);

  EXPECT_EQ(remove_dead_beside(run_dir_), 1U);
  EXPECT_FALSE(fs::exists(folder_ + "/" + dead));
  EXPECT_FALSE(fs::exists("/dev/shm" + status_file_name(dead)));
  EXPECT_TRUE(is_record(folder_ + "/ended")) << "to be read";
  EXPECT_TRUE(fs::exists(folder_ + "/supervised/hub.ready"));
  EXPECT_TRUE(fs::exists(folder_ + "/orphaned/hub.ready"));
  EXPECT_TRUE(fs::exists(run_dir_) && fs::exists(folder_ + "/file"));
  end(worker);
  EXPECT_EQ(remove_dead_beside(run_dir_), 1U);
  EXPECT_FALSE(fs::exists(folder_ + "/orphaned"));
  EXPECT_EQ(remove_dead_beside("/nowhere/run"), 0U);
}

}  // namespace
}  // namespace millrace
