// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/layout/mapping.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "shared/base/error.hpp"
#include "shared/base/limits.hpp"
#include "shared/layout/status_layout.hpp"
#include "tests/unit/support/error_of.hpp"

namespace millrace {
namespace {

using test::error_of;

using ::testing::HasSubstr;

bool exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

/// Names of this process. A memfd of small pages stands in for one of huge pages, which others may
/// need.
class MappingTest : public ::testing::Test {
 protected:
  ~MappingTest() override { unlink(("/dev/shm" + status_).c_str()); }
  const std::string topology_ = "mapping-test-" + std::to_string(getpid());
  const std::string status_ = status_file_name(topology_);
  const UniqueFd segment_{memfd_create("segment", MFD_CLOEXEC)};
};

TEST_F(MappingTest, AnonymousMemoryIsZeroedAndWritable) {
  const Mapping memory = Mapping::create_anonymous(3 * kHugePage);
  ASSERT_EQ(memory.bytes(), 3 * kHugePage);
  EXPECT_TRUE(std::all_of(memory.base(), memory.base() + memory.bytes(),
                          [](std::byte b) { return b == std::byte{0}; }));
  memory.base()[memory.bytes() - 1] = std::byte{1};
}

TEST_F(MappingTest, AMovedMappingHasOneOwner) {
  Mapping memory = Mapping::create_anonymous(kHugePage);
  std::byte* const base = memory.base();
  Mapping moved(std::move(memory));
  EXPECT_EQ(moved.base(), base);
  EXPECT_EQ(memory.base(), nullptr);  // NOLINT: what a move leaves is what is tested
  Mapping other;
  other = std::move(moved);
  EXPECT_EQ(other.base(), base);
  EXPECT_EQ(other.bytes(), kHugePage);
}

TEST_F(MappingTest, AStatusFileLivesFromCreateToDestroy) {
  {
    const Mapping made = Mapping::create_status(status_, 2 * sizeof(StatusHeader));
    made.base()[5] = std::byte{7};
    const Mapping reader = Mapping::attach_status(status_, false);
    EXPECT_EQ(reader.bytes(), 2 * sizeof(StatusHeader));
    EXPECT_EQ(reader.base()[5], std::byte{7});
    const Mapping writer = Mapping::attach_status(status_, true);
    writer.base()[6] = std::byte{8};
    EXPECT_EQ(made.base()[6], std::byte{8});
  }
  EXPECT_TRUE(exists("/dev/shm" + status_)) << "unmapping deletes nothing";
  destroy_shared_memory(topology_);
  EXPECT_FALSE(exists("/dev/shm" + status_));
  destroy_shared_memory(topology_);
}

TEST_F(MappingTest, AStatusFileIsPrivateToItsUser) {
  const Mapping made = Mapping::create_status(status_, sizeof(StatusHeader));
  struct stat info {};
  ASSERT_EQ(stat(("/dev/shm" + status_).c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(MappingTest, StatusFilesThatCannotBeUsedAreRefusedByName) {
  EXPECT_EQ(
      error_of([&] { Mapping::attach_status(status_, false); }),
      "attach to status file /dev/shm" + status_ + " (made by the hub): No such file or directory");
  const Mapping made = Mapping::create_status(status_, 64);
  EXPECT_EQ(error_of([&] { Mapping::attach_status(status_, false); }),
            "status file /dev/shm" + status_ + " is not ready yet");
  EXPECT_EQ(error_of([&] { Mapping::create_status(status_, 64); }),
            "create status file /dev/shm" + status_ + ": File exists");
}

TEST_F(MappingTest, TheSegmentLiesAtItsAddressAndKeepsItsBytes) {
  {
    const Mapping made = Mapping::create_segment(segment_.get(), kHugePage);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(made.base()), kSegmentAddress);
    made.base()[kHugePage - 1] = std::byte{9};
  }
  const Mapping attached = Mapping::attach_segment(segment_.get());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(attached.base()), kSegmentAddress);
  EXPECT_EQ(attached.bytes(), kHugePage);
  EXPECT_EQ(attached.base()[kHugePage - 1], std::byte{9});
}

TEST_F(MappingTest, WhatLiesAtTheAddressAlreadyIsNotMappedOver) {
  const Mapping made = Mapping::create_segment(segment_.get(), kHugePage);
  made.base()[0] = std::byte{3};
  EXPECT_EQ(error_of([&] { Mapping::attach_segment(segment_.get()); }),
            "map the segment: File exists");
  EXPECT_EQ(made.base()[0], std::byte{3});
}

TEST_F(MappingTest, ASegmentIsNeverMadeOverAnOther) {
  { const Mapping made = Mapping::create_segment(segment_.get(), kHugePage); }
  EXPECT_EQ(error_of([&] { Mapping::create_segment(segment_.get(), kHugePage); }),
            "the segment is in use already");
}

TEST_F(MappingTest, AttachingWaitsForTheHub) {
  EXPECT_EQ(error_of([&] { Mapping::attach_segment(segment_.get()); }),
            "the segment is not ready: awaits the hub");
  EXPECT_THAT(error_of([&] { Mapping::attach_segment(-1); }), HasSubstr("Bad file descriptor"));
}

TEST_F(MappingTest, TooFewPagesAreToldWithTheCommandThatMakesThem) {
  constexpr std::size_t kPages = 1u << 24;  // 32 TB
  const UniqueFd file = make_segment_file(topology_);
  const std::string error =
      error_of([&] { Mapping::create_segment(file.get(), kPages * kHugePage); });
  EXPECT_THAT(error, HasSubstr("not enough free huge pages: 16777216 of 2 MB are needed"));
  EXPECT_THAT(error, HasSubstr("millrace doctor --fix"));
}

TEST_F(MappingTest, ASegmentIsFoundInTheProcessThatHasIt) {
  const UniqueFd file = make_segment_file(topology_);
  // This process has another file, or none, at that number.
  EXPECT_FALSE(segment_file_of(getpid(), topology_));
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(file.get(), kSegmentFd);
    // The test looks at a descriptor that is not closed on exec, as a worker has it.
    std::ignore = write(ready[1], "x", 1);
    pause();
    _exit(0);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  const UniqueFd found = segment_file_of(child, topology_);
  EXPECT_TRUE(found);
  EXPECT_FALSE(segment_file_of(child, topology_ + "x")) << "that is another topology's";
  struct stat mine {
  }, its{};
  fstat(file.get(), &mine);
  fstat(found.get(), &its);
  EXPECT_EQ(its.st_ino, mine.st_ino);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(ready[0]);
  close(ready[1]);
}

}  // namespace
}  // namespace millrace
