// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/pulse.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "orchestration/supervisor/run_dir.hpp"

namespace millrace {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

class PulseTest : public testing::Test {
 protected:
  PulseTest() { make_run_dir(folder_); }
  ~PulseTest() override { std::filesystem::remove_all(folder_); }
  static std::string new_folder() {
    char pattern[] = "/tmp/millrace-pulse-XXXXXX";
    return ::mkdtemp(pattern);
  }
  /// Looks for `time`, as often as a command that waits for an answer does; what it said.
  static std::string looked(Pulse& pulse, milliseconds time) {
    const auto end = Clock::now() + time;
    try {
      while (Clock::now() < end) {
        pulse.look();
        std::this_thread::sleep_for(milliseconds(50));
      }
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  ControlClient client() const { return {folder_, kSupervisorEndpoint}; }

  std::string folder_ = new_folder();
};

TEST_F(PulseTest, WhoAnswersAtLeastNowAndThenLives) {
  ControlServer server(folder_, kSupervisorEndpoint);
  std::atomic<bool> done{false};
  std::atomic<int> count{0};
  std::thread slow([&] {
    while (!done) {
      const auto received = server.receive(milliseconds(100));
      if (!received) continue;
      // Alternately: what it knows, and that it does not know.
      if (++count % 2 == 0)
        server.reply(*received, StatusReply{});
      else
        server.reply(*received, ErrorReply{"not now"});
    }
  });
  Pulse pulse(client(), "it hangs", milliseconds(600'000));
  const auto end = Clock::now() + std::chrono::seconds(120);
  while (count < 3 && Clock::now() < end) EXPECT_EQ(looked(pulse, milliseconds(100)), "");
  done = true;
  slow.join();
  EXPECT_GE(count, 3) << "it is asked again, also after a refusal";
}

TEST_F(PulseTest, WhoHearsAndAnswersNothingHangs) {
  const ControlServer server(folder_, kSupervisorEndpoint);
  Pulse pulse(client(), "it hangs", milliseconds(1000));
  EXPECT_EQ(looked(pulse, milliseconds(60'000)), "it hangs");
}

TEST_F(PulseTest, WhoIsNotThereHangsToo) {
  Pulse pulse(client(), "it hangs", milliseconds(1000));
  EXPECT_EQ(looked(pulse, milliseconds(60'000)), "it hangs");
}

}  // namespace
}  // namespace millrace
