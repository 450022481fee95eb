// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/base/kernel_table.hpp"

#include <gtest/gtest.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "shared/base/error.hpp"
#include "shared/base/netlink.hpp"
#include "shared/base/unique_fd.hpp"

namespace millrace::kernel_table_test {
namespace {

/// Lines of a table below /proc/net behind its heading.
std::size_t lines_of(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::size_t lines = 0;
  std::getline(file, line);
  while (std::getline(file, line)) ++lines;
  return lines;
}

TEST(KernelTable, RoutesAreThoseOfProc) {
  std::size_t ipv4_main = 0, others = 0, ends = 0;
  read_kernel_table(
      KernelTable::kRoutes, [&](const nlmsghdr& header, std::span<const std::byte> message) {
        EXPECT_EQ(header.nlmsg_len, message.size());
        if (header.nlmsg_type == NLMSG_DONE) ++ends;
        rtmsg route{};
        if (header.nlmsg_type != RTM_NEWROUTE || !read_body(message, route)) return;
        const bool wanted = route.rtm_family == AF_INET && route.rtm_table == RT_TABLE_MAIN &&
                            route.rtm_type == RTN_UNICAST;
        ++(wanted ? ipv4_main : others);
      });
  EXPECT_EQ(ipv4_main, lines_of("/proc/net/route"));
  EXPECT_EQ(ends, 2u) << "one of each family";
}

TEST(KernelTable, NeighboursAreMessagesOfNeighbours) {
  read_kernel_table(KernelTable::kNeighbours, [](const nlmsghdr& header, auto) {
    EXPECT_TRUE(header.nlmsg_type == RTM_NEWNEIGH || header.nlmsg_type == NLMSG_DONE);
  });
}

TEST(KernelTable, WhatItsVisitorThrowsIsThrown) {
  EXPECT_THROW(
      read_kernel_table(KernelTable::kRoutes, [](const auto&, auto) { throw Error("no"); }), Error);
}

TEST(KernelTable, AnAnswerTellsOfAChangeMeanwhileAndOfTheEnd) {
  struct {
    nlmsghdr header;
    std::int32_t error;
  } message{};
  message.header.nlmsg_len = sizeof message;
  int visited = 0;
  const auto take = [&](std::uint16_t type, std::uint16_t flags) {
    message.header.nlmsg_type = type;
    message.header.nlmsg_flags = flags;
    return take_kernel_answer(KernelTable::kRoutes, std::as_bytes(std::span(&message, 1)),
                              [&](const auto&, auto) { ++visited; });
  };
  const KernelAnswer usual = take(RTM_NEWROUTE, NLM_F_MULTI);
  EXPECT_TRUE(usual.whole && !usual.last);
  EXPECT_FALSE(take(RTM_NEWROUTE, NLM_F_MULTI | NLM_F_DUMP_INTR).whole);
  const KernelAnswer end = take(NLMSG_DONE, NLM_F_MULTI | NLM_F_DUMP_INTR);
  EXPECT_TRUE(end.last && !end.whole);
  EXPECT_TRUE(take(NLMSG_DONE, NLM_F_MULTI).whole);
  EXPECT_EQ(visited, 4);
  message.error = -EBUSY;
  EXPECT_THROW(take(NLMSG_DONE, NLM_F_MULTI), Error);
}

/// A socket that has been told what the test sends.
class Told : public testing::Test {
 protected:
  Told() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, ends.data()), 0);
    socket_ = UniqueFd(ends[0]);
    kernel_ = UniqueFd(ends[1]);
  }
  /// One datagram of empty messages with these types.
  void tell(const std::vector<std::uint16_t>& types) {
    std::vector<nlmsghdr> messages;
    for (const std::uint16_t type : types) {
      messages.push_back({.nlmsg_len = sizeof(nlmsghdr),
                          .nlmsg_type = type,
                          .nlmsg_flags = 0,
                          .nlmsg_seq = 0,
                          .nlmsg_pid = 0});
    }
    const std::size_t bytes = messages.size() * sizeof(nlmsghdr);
    EXPECT_EQ(::send(kernel_.get(), messages.data(), bytes, 0), static_cast<ssize_t>(bytes));
  }
  KernelTold read(int reads_max) {
    return read_kernel_changes(socket_.get(), room_, reads_max, [&](const nlmsghdr& header, auto) {
      types_.push_back(header.nlmsg_type);
    });
  }

  UniqueFd socket_, kernel_;
  std::array<std::byte, 1024> room_{};
  std::vector<std::uint16_t> types_;
};

TEST_F(Told, AllMessagesOfAllDatagramsComeInOrder) {
  tell({20, 21});
  tell({22});
  const KernelTold told = read(10);
  EXPECT_EQ(types_, (std::vector<std::uint16_t>{20, 21, 22}));
  EXPECT_FALSE(told.lost || told.more);
  EXPECT_EQ(told.error, 0);
}

TEST_F(Told, NoMoreDatagramsAreReadThanWanted) {
  for (const std::uint16_t type : {20, 21, 22}) tell({type});
  EXPECT_TRUE(read(2).more);
  EXPECT_EQ(types_.size(), 2u);
  EXPECT_FALSE(read(2).more);
  EXPECT_EQ(types_.size(), 3u);
}

TEST_F(Told, ASocketThatCannotBeReadIsNamed) {
  socket_ = UniqueFd();
  EXPECT_EQ(read(2).error, EBADF);
}

}  // namespace
}  // namespace millrace::kernel_table_test
