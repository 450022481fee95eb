// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/watch/watch_file.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <string>
#include <vector>

#include "shared/base/error.hpp"
#include "shared/base/packet_filter.hpp"

namespace millrace::test {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr std::uint32_t kActors = 3;

class WatchFileTest : public testing::Test {
 protected:
  ~WatchFileTest() override { remove_watches(name_, true); }
  static WatchWish wish() {
    WatchWish wish;
    wish.actors = {true, false, true};
    wish.filter = {filter_word(0x06, 0, 0, 65535)};
    wish.ring_bytes = 64 << 10;
    return wish;
  }
  WatchFile create() { return WatchFile::create(name_, wish(), ::geteuid()); }
  std::string path(std::uint32_t number) const { return "/dev/shm" + watch_name(name_, number); }
  bool attaches() const { return WatchFile::attach(name_, 0, kActors).has_value(); }

  std::string name_ = "watch-file-test-" + std::to_string(::getpid());
};

TEST_F(WatchFileTest, AnActorFindsWhatTheWatcherWrote) {
  const WatchFile file = create();
  const auto found = WatchFile::attach(name_, 0, kActors);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->watched());
  EXPECT_EQ(found->header().ring_count, 2U);
  EXPECT_EQ(found->header().ring_of[0], 0U);
  EXPECT_EQ(found->header().ring_of[1], kNoRing);
  EXPECT_EQ(found->header().ring_of[2], 1U);
  EXPECT_EQ(found->filter().size(), 1U);
  file.ring(1).tail.store(42);
  EXPECT_EQ(found->ring(1).tail.load(), 42U);
  file.ring_base(1)[100] = std::byte{7};
  EXPECT_EQ(found->ring_base(1)[100], std::byte{7});
}

TEST_F(WatchFileTest, IsForOneUserAndGoesWithItsWatcher) {
  {
    const WatchFile file = create();
    struct stat info {};
    ASSERT_EQ(::stat(path(0).c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600U);
  }
  EXPECT_NE(::access(path(0).c_str(), F_OK), 0);
}

TEST_F(WatchFileTest, AFileThatOthersMayReadIsNotWrittenTo) {
  const WatchFile file = create();
  ASSERT_TRUE(attaches());
  ASSERT_EQ(::chmod(path(0).c_str(), 0604), 0);
  EXPECT_FALSE(attaches());
}

TEST_F(WatchFileTest, AFileOfAnotherUserIsNotWrittenTo) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  const WatchFile file = create();
  ASSERT_EQ(::chown(path(0).c_str(), 65534, gid_t(-1)), 0);
  EXPECT_FALSE(attaches());
}

TEST_F(WatchFileTest, WhatIsMalformedIsNotWrittenTo) {
  const WatchFile file = create();
  EXPECT_FALSE(WatchFile::attach(name_, 0, kActors + 1)) << "another plan";
  auto& header = const_cast<WatchHeader&>(file.header());
  const auto refused = [&](auto change) {
    WatchHeader before{};
    std::memcpy(static_cast<void*>(&before), static_cast<void*>(&header), sizeof before);
    change();
    const bool attached = attaches();
    std::memcpy(static_cast<void*>(&header), static_cast<void*>(&before), sizeof before);
    return !attached && attaches();
  };
  EXPECT_TRUE(refused([&] { header.magic = 0; }));
  EXPECT_TRUE(refused([&] { header.ring_bytes = 3 << 15; }));
  EXPECT_TRUE(refused([&] { header.ring_bytes = 128 << 10; })) << "longer than the file";
  EXPECT_TRUE(refused([&] { header.ring_count = 64; }));
  EXPECT_TRUE(refused([&] { header.filter_count = 1 << 20; }));
  const_cast<std::uint64_t&>(file.filter()[0]) = filter_word(0x05, 0, 0, 77);  // jumps out of it
  EXPECT_FALSE(attaches());
}

TEST_F(WatchFileTest, OnlySoManyAtATime) {
  std::vector<WatchFile> files;
  for (std::uint32_t i = 0; i < kWatchCountMax; ++i) files.push_back(create());
  EXPECT_THAT([&] { create(); }, ThrowsMessage<Error>(HasSubstr("watched by 4")));
  files.pop_back();
  EXPECT_NO_THROW(create());
}

TEST_F(WatchFileTest, ADeadWatcherIsNoticedAndItsFileTakenOver) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const WatchFile file = create();
    static_cast<void>(::write(ready[1], "x", 1));
    ::pause();
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  const auto found = WatchFile::attach(name_, 0, kActors);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->watched());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(found->watched());
  EXPECT_FALSE(attaches());
  EXPECT_EQ(::access(path(0).c_str(), F_OK), 0);
  const WatchFile next = create();
  EXPECT_TRUE(attaches());
  EXPECT_FALSE(found->watched());
}

TEST_F(WatchFileTest, WhatAForeignUserHoldsIsInNobodysWay) {
  if (::geteuid() != 0) GTEST_SKIP() << "files of others are made by root";
  std::vector<UniqueFd> held;
  for (std::uint32_t i = 0; i < kWatchCountMax; ++i) {
    held.emplace_back(::open(path(i).c_str(), O_CREAT | O_RDWR, 0600));
    ASSERT_EQ(::fchown(held.back().get(), 12345, 12345), 0);
    ASSERT_EQ(::flock(held.back().get(), LOCK_EX), 0);
  }
  const WatchFile file = create();
  EXPECT_TRUE(attaches());
}

TEST_F(WatchFileTest, LivingWatchersStayUnlessAllAreMeant) {
  const WatchFile file = create();
  remove_watches(name_, false);
  EXPECT_EQ(::access(path(0).c_str(), F_OK), 0);
  remove_watches(name_, true);
  EXPECT_NE(::access(path(0).c_str(), F_OK), 0);
}

}  // namespace
}  // namespace millrace::test
