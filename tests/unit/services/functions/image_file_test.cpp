// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/image_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "shared/base/error.hpp"
#include "tests/unit/support/error_of.hpp"

namespace millrace {
namespace {

using test::error_of;

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr ImageKind kKind = {"test", 17};
constexpr std::size_t kBytes = 10 * kImagePageBytes;

class ImageFile : public testing::Test {
 protected:
  void SetUp() override {
    // Shared memory, where images live: holes behave differently on other file systems.
    folder_ = fs::path("/dev/shm") / ("millrace-image-test-" + std::to_string(getpid()));
    fs::create_directory(folder_);
    path_ = folder_ / "test.img";
  }
  void TearDown() override { fs::remove_all(folder_); }

  void publish(std::size_t bytes = kBytes, char value = 'x') {
    ImageWriter writer(path_, kKind, bytes);
    writer.bytes()[3 * kImagePageBytes] = std::byte(value);
    writer.publish(5);
  }
  std::string mapping_error(ImageKind kind = kKind) {
    return error_of([&] { MappedImage image(path_, kind); });
  }
  void overwrite(std::size_t at, char value) {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(at));
    file.put(value);
  }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
  std::string path_;
};

TEST_F(ImageFile, WhatWasPublishedIsMapped) {
  publish();
  const MappedImage image(path_, kKind);
  EXPECT_EQ(image.bytes().size(), kBytes);
  EXPECT_EQ(image.bytes()[3 * kImagePageBytes], std::byte('x'));
  EXPECT_EQ(image.bytes()[kBytes - 1], std::byte(0));
  EXPECT_EQ(image.header().counter_count, 5u);
  EXPECT_EQ(files(), 1u) << "the draft is still there";
}

TEST_F(ImageFile, PagesNeverWrittenTakeNoMemoryEvenWhenRead) {
  const std::size_t bytes = std::size_t{64} << 20;
  publish(bytes);
  const MappedImage image(path_, kKind);
  std::size_t sum = 0;
  for (std::size_t at = 0; at < bytes; at += kImagePageBytes) {
    sum += static_cast<std::size_t>(image.bytes()[at]);
  }
  EXPECT_GT(sum, 0u);
  struct stat info {};
  ASSERT_EQ(stat(path_.c_str(), &info), 0);
  EXPECT_LE(info.st_blocks * 512, 256 * 1024);
}

TEST_F(ImageFile, DataBehindHolesOfAnySizeIsFound) {
  constexpr std::size_t kPages = 200;
  {
    ImageWriter writer(path_, kKind, kPages * kImagePageBytes);
    for (const std::size_t page : {2, 3, 40, 199}) {
      writer.bytes()[page * kImagePageBytes + 9] = std::byte(page);
    }
    writer.publish(0);
  }
  const MappedImage image(path_, kKind);
  for (std::size_t page = 1; page < kPages; ++page) {
    const bool written = page == 2 || page == 3 || page == 40 || page == 199;
    EXPECT_EQ(image.bytes()[page * kImagePageBytes + 9], std::byte(written ? page : 0)) << page;
  }
}

TEST_F(ImageFile, WhatIsNotPublishedLeavesNothing) {
  { const ImageWriter writer(path_, kKind, kBytes); }
  EXPECT_EQ(files(), 0u);
  EXPECT_THAT(mapping_error(), HasSubstr("No such file"));
}

TEST_F(ImageFile, ANewVersionLeavesTheMappedOneAlone) {
  publish(kBytes, 'a');
  const MappedImage old(path_, kKind);
  publish(kBytes, 'b');
  const MappedImage fresh(path_, kKind);
  EXPECT_EQ(old.bytes()[3 * kImagePageBytes], std::byte('a'));
  EXPECT_EQ(fresh.bytes()[3 * kImagePageBytes], std::byte('b'));
}

TEST_F(ImageFile, ALiveImageChangesWhereItIsMappedAlsoInWhatWasEmpty) {
  ImageWriter writer(path_, kKind, kBytes);
  ASSERT_TRUE(writer.publish_live(7));
  const MappedImage image(path_, kKind);
  EXPECT_EQ(image.header().live, 1u);
  EXPECT_EQ(read_image_header(path_).counter_count, 7u);
  const LiveImage live(path_, kKind);
  for (std::size_t at = kImagePageBytes; at < kBytes; at += kImagePageBytes) {
    ASSERT_EQ(image.bytes()[at], std::byte{0});
    live.bytes()[at] = std::byte{9};
    EXPECT_EQ(image.bytes()[at], std::byte{9});
  }
  // Its checksum is of another time.
  const MappedImage later(path_, kKind);
  EXPECT_EQ(later.bytes()[kBytes - kImagePageBytes], std::byte{9});
}

TEST_F(ImageFile, ALiveImageHasTheMemoryOfAllItsPages) {
  ImageWriter writer(path_, kKind, kBytes);
  ASSERT_TRUE(writer.publish_live(0));
  struct stat info {};
  ASSERT_EQ(stat(path_.c_str(), &info), 0);
  EXPECT_GE(static_cast<std::size_t>(info.st_blocks) * 512, kBytes);
}

TEST_F(ImageFile, WithoutRoomALiveImageIsNotPublished) {
  sigset_t beyond{}, before{};
  sigemptyset(&beyond);
  sigaddset(&beyond, SIGXFSZ);
  ASSERT_EQ(sigprocmask(SIG_BLOCK, &beyond, &before), 0);
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
  const rlimit small{.rlim_cur = kImagePageBytes, .rlim_max = limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  ImageWriter writer(path_, kKind, kBytes);
  const bool published = writer.publish_live(0);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  const timespec none{};
  sigtimedwait(&beyond, nullptr, &none);
  ASSERT_EQ(sigprocmask(SIG_SETMASK, &before, nullptr), 0);
  EXPECT_FALSE(published);
  EXPECT_EQ(files(), 0u);
}

TEST_F(ImageFile, OnlyALiveImageIsMappedToBeChanged) {
  publish();
  EXPECT_THAT(error_of([&] { const LiveImage live(path_, kKind); }), HasSubstr("not a live image"));
  ImageWriter writer(path_, kKind, kBytes);
  ASSERT_TRUE(writer.publish_live(0));
  EXPECT_THAT(error_of([&] {
                const LiveImage live(path_, {"other", 17});
              }),
              HasSubstr("another function"));
}

TEST_F(ImageFile, AnotherKindOrLayoutIsRefused) {
  publish();
  EXPECT_THAT(mapping_error({"other", 17}), HasSubstr("another function"));
  EXPECT_THAT(mapping_error({"test", 18}), HasSubstr("build it again"));
}

TEST_F(ImageFile, AChangedByteAnywhereIsSeen) {
  for (const std::size_t at : {std::size_t{0}, std::size_t{9}, std::size_t{16}, std::size_t{21},
                               std::size_t{33}, std::size_t{41}, std::size_t{64}, kImagePageBytes,
                               3 * kImagePageBytes, 5 * kImagePageBytes + 7, kBytes - 1}) {
    publish();
    ASSERT_EQ(mapping_error(), "no error");
    overwrite(at, '\x5a');
    EXPECT_NE(mapping_error(), "no error") << "byte " << at;
  }
}

TEST_F(ImageFile, ACutOrForeignFileIsRefused) {
  publish();
  fs::resize_file(path_, 4 * kImagePageBytes);
  EXPECT_THAT(mapping_error(), HasSubstr("bytes long"));
  fs::resize_file(path_, 100);
  EXPECT_THAT(mapping_error(), HasSubstr("not a table image"));
  fs::resize_file(path_, 0);
  EXPECT_THAT(mapping_error(), HasSubstr("not a table image"));
  std::ofstream(path_) << std::string(kImagePageBytes, 'q');
  EXPECT_THAT(mapping_error(), HasSubstr("not a table image"));
}

TEST_F(ImageFile, AFolderThatIsNotThereIsNamed) {
  EXPECT_THAT(error_of([] { ImageWriter("/nowhere/x", kKind, kBytes).publish(0); }),
              HasSubstr("/nowhere/x"));
}

TEST_F(ImageFile, AFileSystemWithoutRoomIsAnErrorNotASignal) {
  constexpr int kNoRights = 77;
  const pid_t child = fork();
  if (child == 0) {
    const bool mounted = unshare(CLONE_NEWNS) == 0 &&
                         mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                         mount("small", folder_.c_str(), "tmpfs", 0, "size=1m") == 0;
    if (!mounted) _exit(kNoRights);
    // Larger than the file system, and hardly anything of it written.
    const std::string fits = error_of([&] { publish(64 << 20); });
    const std::string error = error_of([&] {
      ImageWriter writer(path_, kKind, 2 << 20);
      std::memset(writer.bytes().data() + kImagePageBytes, 'x', 1 << 20);
      writer.publish(0);
    });
    const bool named = error.find(path_ + ": No space left on device; mend:") != std::string::npos;
    _exit(fits == "no error" && named && files() == 1 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  if (WEXITSTATUS(status) == kNoRights) GTEST_SKIP() << "mounting takes root";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace millrace
