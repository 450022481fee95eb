// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/leader_client.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace millrace {
namespace {

class LeaderClient : public testing::Test {
 protected:
  LeaderClient() {
    char pattern[] = "/tmp/millrace-leader-XXXXXX";
    run_dir_ = ::mkdtemp(pattern);
  }
  ~LeaderClient() override {
    ending_ = true;
    for (std::thread& thread : threads_) thread.join();
    std::filesystem::remove_all(run_dir_);
  }

  /// Listens as `name`; answers, if it answers at all, with its name.
  void listen(const char* name, bool answers) {
    threads_.emplace_back([this, name, answers] {
      ControlServer server(run_dir_, name);
      while (!ending_) {
        const auto asked = server.receive(std::chrono::milliseconds(20));
        if (!asked) continue;
        ++heard_;
        if (answers) server.reply(*asked, AuditReply{.by = name});
      }
    });
  }
  std::string answered_by() const {
    return ask_leader<AuditReply>(run_dir_, AuditRequest{}, kEnough).by;
  }
  template <class Answer>
  std::string error_within(LeaderLimits limits) const {
    try {
      ask_leader<Answer>(run_dir_, AuditRequest{}, limits);
      return "no error";
    } catch (const Error& error) {
      return error.what();
    }
  }

  static constexpr std::chrono::milliseconds kLong{20'000}, kShort{50};
  static constexpr LeaderLimits kEnough = {kLong, kLong};
  std::string run_dir_;
  std::atomic<int> heard_ = 0;

 private:
  std::atomic<bool> ending_ = false;
  std::vector<std::thread> threads_;
};

TEST_F(LeaderClient, AsksTheHub) {
  listen(kHubEndpoint, true);
  EXPECT_EQ(answered_by(), "hub");
}

TEST_F(LeaderClient, AsksTheStandbyWhenTheHubIsGone) {
  listen(kStandbyEndpoint, true);
  EXPECT_EQ(answered_by(), "standby");
}

TEST_F(LeaderClient, AsksTheStandbyWhenTheHubDiesWithTheQuestionInItsHands) {
  listen(kHubEndpoint, false);
  std::thread successor([&] {
    while (heard_ == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    listen(kStandbyEndpoint, true);
  });
  EXPECT_EQ(answered_by(), "standby");
  successor.join();
  EXPECT_EQ(heard_, 2);
}

TEST_F(LeaderClient, TellsThatNeitherIsThere) {
  EXPECT_EQ(error_within<AuditReply>({kShort, kLong}),
            "neither hub nor standby is there to hear `audit` in " + run_dir_);
}

TEST_F(LeaderClient, TellsThatNobodyAnswersInTime) {
  listen(kHubEndpoint, false);
  EXPECT_EQ(error_within<AuditReply>({kLong, kShort}),
            "the leader does not answer `audit` in " + run_dir_ + " within 50 ms");
}

TEST_F(LeaderClient, TellsOfAnAnswerToAnotherQuestion) {
  listen(kHubEndpoint, true);
  EXPECT_EQ(error_within<OkReply>(kEnough), "`audit` was answered with `audit reply`");
}

}  // namespace
}  // namespace millrace
