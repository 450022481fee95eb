// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/events/event_socket.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/unit/services/events/event_world.hpp"
#include "tests/unit/support/error_of.hpp"

namespace millrace {
namespace {

using ::testing::HasSubstr;

class EventSocketTest : public ::testing::Test {
 protected:
  UniqueFd client() {
    UniqueFd client = test::connect_client(path_);
    EXPECT_TRUE(client);
    socket_.turn(now_);
    return client;
  }

  test::EventFolder folder_;
  std::string path_ = folder_.path("events.sock");
  EventSink sink_{};
  EventSocket socket_{path_, sink_};
  std::uint64_t now_ = 1'000'000'000;
};

TEST_F(EventSocketTest, EachClientGetsWhatIsToldFromThenOn) {
  socket_.put("nobody hears\n");
  const UniqueFd first = client();
  socket_.put("one\n");
  const UniqueFd second = client();
  socket_.put("two\nthree\n");
  EXPECT_FALSE(socket_.idle());
  socket_.turn(now_);
  EXPECT_TRUE(socket_.idle());
  EXPECT_EQ(test::received(first), "one\ntwo\nthree\n");
  EXPECT_EQ(test::received(second), "two\nthree\n");
  EXPECT_EQ(sink_.client_written, 5u);
  EXPECT_EQ(sink_.client_lost, 0u);
  EXPECT_EQ(sink_.clients, 2u);
}

TEST_F(EventSocketTest, AClientThatLeavesTakesNothingWithIt) {
  UniqueFd first = client();
  const UniqueFd second = client();
  first = UniqueFd();
  socket_.put("one\n");
  socket_.turn(now_);
  EXPECT_EQ(test::received(second), "one\n");
  EXPECT_EQ(sink_.clients, 1u);
  EXPECT_EQ(sink_.client_lost, 1u);
  EXPECT_EQ(sink_.clients_cut, 0u);
}

TEST_F(EventSocketTest, WhatAClientSendsIsNoMatter) {
  const UniqueFd talks = client();
  const std::string text(1000, 'x');
  ASSERT_EQ(::write(talks.get(), text.data(), text.size()), 1000);
  socket_.put("one\n");
  socket_.turn(now_);
  EXPECT_EQ(test::received(talks), "one\n");
}

TEST_F(EventSocketTest, OneThatStandsStillLosesLinesAndIsLetGoOf) {
  const UniqueFd still = client();
  const UniqueFd reads = client();
  const std::string line = std::string(1023, 'x') + "\n";
  std::string lines;
  for (int i = 0; i < 64; ++i) lines += line;
  std::size_t seen = 0;
  const int rounds = 40;  // 2.6 MB: more than the kernel's buffer and ours
  for (int i = 0; i < rounds; ++i) {
    socket_.put(lines);
    socket_.turn(now_);
    seen += test::received(reads).size();
  }
  while (!test::received(reads).empty()) socket_.turn(now_);
  EXPECT_GT(sink_.client_lost, 0u);
  EXPECT_EQ(sink_.clients, 2u);
  socket_.turn(now_ + EventSocket::kClientPatienceNs - 1);
  EXPECT_EQ(sink_.clients, 2u);
  socket_.turn(now_ + EventSocket::kClientPatienceNs);
  EXPECT_EQ(sink_.clients, 1u);
  EXPECT_EQ(sink_.clients_cut, 1u);
  const std::string got = test::received(still);
  const auto whole = static_cast<std::uint64_t>(std::ranges::count(got, '\n'));
  EXPECT_EQ(whole + seen / line.size() + sink_.client_lost, 2u * 64 * rounds);
  EXPECT_EQ(sink_.client_written + sink_.client_lost, 2u * 64 * rounds);
}

TEST_F(EventSocketTest, TakesNoMoreClientsThanItHasRoomFor) {
  std::vector<UniqueFd> clients;
  for (std::size_t i = 0; i < EventSocket::kClientsMax; ++i) clients.push_back(client());
  const UniqueFd one_more = client();
  EXPECT_EQ(sink_.clients, EventSocket::kClientsMax);
  socket_.put("x\n");
  socket_.turn(now_);
  EXPECT_EQ(test::received(clients.back()), "x\n");
  EXPECT_EQ(test::received(one_more), "");
}

TEST_F(EventSocketTest, IsForOwnerAndGroup) {
  struct stat info {};
  ASSERT_EQ(::stat(path_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0660u);
}

TEST_F(EventSocketTest, TakesThePlaceOfADeadOneAndNotOfALivingOne) {
  EventSink other{};
  EXPECT_THAT(test::error_of([&] { EventSocket(path_, other); }),
              HasSubstr("another process answers there"));
  const std::string dead = folder_.path("dead.sock");
  {
    const UniqueFd killed(::socket(AF_UNIX, SOCK_STREAM, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    dead.copy(address.sun_path, sizeof address.sun_path - 1);
    ASSERT_EQ(::bind(killed.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  const EventSocket successor(dead, other);
  EXPECT_TRUE(test::connect_client(dead));
}

TEST_F(EventSocketTest, LeavesFilesAlone) {
  const std::string file = folder_.path("file");
  std::ofstream(file) << "x";
  EventSink other{};
  EXPECT_THAT(test::error_of([&] { EventSocket(file, other); }),
              HasSubstr("is a regular file; remove it"));
  EXPECT_EQ(folder_.text("file"), "x");
  EXPECT_THAT(test::error_of([&] { EventSocket(std::string(200, 'x'), other); }),
              HasSubstr("name another one"));
}

}  // namespace
}  // namespace millrace
