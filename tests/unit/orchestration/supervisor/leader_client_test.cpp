// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/leader_client.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <optional>
#include <thread>

namespace millrace {
namespace {

class LeaderClient : public testing::Test {
 protected:
  LeaderClient() {
    char pattern[] = "/tmp/millrace-leader-XXXXXX";
    run_dir_ = ::mkdtemp(pattern);
  }
  ~LeaderClient() override { std::filesystem::remove_all(run_dir_); }

  /// Who answers when these listen.
  std::string answered_by(const std::vector<const char*>& listening) const {
    std::vector<std::thread> threads;
    std::atomic<bool> ending = false;
    for (const char* name : listening) {
      threads.emplace_back([this, name, &ending] {
        ControlServer server(run_dir_, name);
        while (!ending) {
          const auto asked = server.receive(std::chrono::milliseconds(20));
          if (asked) server.reply(*asked, AuditReply{.by = name});
        }
      });
    }
    const std::string by = ask_leader<AuditReply>(run_dir_, AuditRequest{}).by;
    ending = true;
    for (std::thread& thread : threads) thread.join();
    return by;
  }

  std::string run_dir_;
};

TEST_F(LeaderClient, AsksTheHub) { EXPECT_EQ(answered_by({"hub", "standby"}), "hub"); }

TEST_F(LeaderClient, AsksTheStandbyWhenTheHubIsGone) {
  EXPECT_EQ(answered_by({"standby"}), "standby");
}

TEST_F(LeaderClient, TellsThatNeitherIsThere) {
  try {
    ask_leader<AuditReply>(run_dir_, AuditRequest{});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.what(), "neither hub nor standby is there to hear `audit` in " + run_dir_);
  }
}

}  // namespace
}  // namespace millrace
