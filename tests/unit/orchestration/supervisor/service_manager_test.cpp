// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/service_manager.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

namespace millrace::test {
namespace {

using testing::StartsWith;

/// systemd's end.
class Manager {
 public:
  explicit Manager(std::string name)
      : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    ::setenv("NOTIFY_SOCKET", name.c_str(), 1);
    if (name[0] == '@') name[0] = '\0';
    std::memcpy(address.sun_path, name.data(), name.size());
    const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    EXPECT_EQ(::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), bytes), 0);
  }
  std::string heard() const {
    char text[512];
    const ssize_t got = ::recv(socket_.get(), text, sizeof text, 0);
    return got < 0 ? "" : std::string(text, static_cast<std::size_t>(got));
  }

 private:
  UniqueFd socket_;
};

class ServiceManagerTest : public testing::Test {
 protected:
  ~ServiceManagerTest() override { ::unlink(path_.c_str()); }
  std::string path_ = testing::TempDir() + "notify-" + std::to_string(::getpid());
};

TEST_F(ServiceManagerTest, SaysNothingWhereNobodyListens) {
  ServiceManager manager;
  EXPECT_FALSE(manager.listens());
  manager.ready("runs");
  manager.alive();
  manager.stopping();
}

TEST_F(ServiceManagerTest, TellsOfTheBeginAndTheEnd) {
  const Manager systemd(path_);
  ServiceManager manager;
  EXPECT_TRUE(manager.listens());
  EXPECT_EQ(std::getenv("NOTIFY_SOCKET"), nullptr) << "children do not speak for us";
  manager.ready("12 processes");
  EXPECT_EQ(systemd.heard(), "READY=1\nSTATUS=12 processes\nMAINPID=" + std::to_string(::getpid()));
  manager.alive();
  EXPECT_EQ(systemd.heard(), "") << "without a watchdog";
  manager.stopping();
  EXPECT_EQ(systemd.heard(), "STOPPING=1");
}

TEST_F(ServiceManagerTest, KnowsTheAbstractNamespace) {
  const Manager systemd("@millrace-notify-" + std::to_string(::getpid()));
  ServiceManager manager;
  manager.ready("");
  EXPECT_THAT(systemd.heard(), StartsWith("READY=1"));
}

TEST_F(ServiceManagerTest, TellsTheWatchdogOftenEnoughAndNotMore) {
  const Manager systemd(path_);
  ::setenv("WATCHDOG_USEC", "3600000000", 1);
  ::setenv("WATCHDOG_PID", std::to_string(::getpid()).c_str(), 1);
  ServiceManager seldom;
  seldom.alive();
  seldom.alive();
  EXPECT_EQ(systemd.heard(), "WATCHDOG=1");
  EXPECT_EQ(systemd.heard(), "");
  ::setenv("NOTIFY_SOCKET", path_.c_str(), 1);
  ::setenv("WATCHDOG_USEC", "3000000", 1);
  ::setenv("WATCHDOG_PID", std::to_string(::getpid()).c_str(), 1);
  ServiceManager manager;
  manager.alive();
  EXPECT_EQ(systemd.heard(), "WATCHDOG=1");
  std::this_thread::sleep_for(std::chrono::milliseconds(1010));
  manager.alive();
  EXPECT_EQ(systemd.heard(), "WATCHDOG=1");
}

TEST_F(ServiceManagerTest, AWatchdogOfAnotherProcessIsNotOurs) {
  const Manager systemd(path_);
  ::setenv("WATCHDOG_USEC", "60000", 1);
  ::setenv("WATCHDOG_PID", "1", 1);
  ServiceManager manager;
  manager.alive();
  EXPECT_EQ(systemd.heard(), "");
}

TEST(Unit, IsNamedByTheControlGroup) {
  EXPECT_EQ(unit_in("0::/system.slice/system-millrace.slice/millrace@edge.service\n"),
            "millrace@edge.service");
  EXPECT_EQ(unit_in("1:name=systemd:/a\n0::/x/millrace@edge.service/part\n"),
            "millrace@edge.service");
  EXPECT_EQ(unit_in("0::/user.slice/user-0.slice/session-3.scope\n"), "");
  EXPECT_EQ(unit_in("0::/x/millrace@edge.scope\n"), "");
  EXPECT_EQ(unit_in("0::/x/millrace@edge"), "");
  EXPECT_EQ(unit_in(""), "");
  EXPECT_EQ(unit_of(::getpid()), "");
}

}  // namespace
}  // namespace millrace::test
