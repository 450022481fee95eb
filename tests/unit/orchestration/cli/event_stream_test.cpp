// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/event_stream.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "shared/base/error.hpp"

namespace millrace {
namespace {

class EventStreamTest : public ::testing::Test {
 protected:
  EventStreamTest() {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
    plan_.name = "edge";
    plan_.events = PlanEvents{};
  }
  ~EventStreamTest() override { std::filesystem::remove_all(folder_); }
  UniqueFd listen() const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    events_socket_path(plan_, folder_).copy(address.sun_path, sizeof address.sun_path - 1);
    UniqueFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    EXPECT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener.get(), 1), 0);
    return listener;
  }
  static void send(const UniqueFd& to, std::string_view text) {
    ASSERT_EQ(::write(to.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  std::string problem() const {
    try {
      const EventStream stream(plan_, folder_);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  }

  std::string folder_ = testing::TempDir() + "event_stream_test";
  Plan plan_;
};

TEST_F(EventStreamTest, GivesWholeLinesUntilTheOtherEndCloses) {
  const UniqueFd listener = listen();
  EventStream stream(plan_, folder_);
  UniqueFd server(::accept(listener.get(), nullptr, nullptr));
  std::string line;
  EXPECT_TRUE(stream.is_quiet());
  send(server, "one\n\ntw");
  ASSERT_TRUE(stream.next(line));
  EXPECT_EQ(line, "one");
  EXPECT_FALSE(stream.is_quiet());
  ASSERT_TRUE(stream.next(line));
  EXPECT_EQ(line, "");
  EXPECT_TRUE(stream.is_quiet());
  send(server, "o\nhalf");
  ASSERT_TRUE(stream.next(line));
  EXPECT_EQ(line, "two");
  server = UniqueFd();
  EXPECT_FALSE(stream.next(line));
}

TEST_F(EventStreamTest, SaysWhyThereIsNone) {
  using ::testing::HasSubstr;
  EXPECT_THAT(problem(), HasSubstr("the process `events` starts again by itself"));
  plan_.events->socket = std::string(200, 'x');
  EXPECT_THAT(problem(), HasSubstr("is too long for a socket"));
  plan_.events.reset();
  EXPECT_THAT(problem(), HasSubstr("needs a section `events: {}`"));
}

}  // namespace
}  // namespace millrace
