// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/base/whole_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "shared/base/error.hpp"
#include "tests/unit/support/error_of.hpp"

namespace millrace {
namespace {

TEST(WholeFile, IsReadToItsEnd) {
  const std::string path =
      std::filesystem::temp_directory_path() / ("whole-file-" + std::to_string(getpid()));
  for (const std::size_t bytes : {0u, 1u, (1u << 20) - 1, 1u << 20, (1u << 20) + 1, 3u << 20}) {
    std::string text(bytes, 'x');
    if (bytes > 0) text.back() = '\0';
    std::ofstream(path, std::ios::binary) << text;
    EXPECT_EQ(whole_file(path, bytes), text) << bytes;
    if (bytes == 0) continue;
    EXPECT_THROW(whole_file(path, bytes - 1), Error) << bytes;
  }
  std::filesystem::remove(path);
}

TEST(WholeFile, IsRefusedByItsPath) {
  EXPECT_EQ(test::error_of([] { whole_file("/nowhere/t", 9); }),
            "read /nowhere/t: No such file or directory");
  EXPECT_EQ(test::error_of([] { whole_file("/tmp", 9); }),
            "read /tmp: it is a folder; a regular file is needed");
  EXPECT_EQ(test::error_of([] { whole_file("/dev/zero", 9); }),
            "read /dev/zero: it is a device; a regular file is needed")
      << "one without an end";
}

TEST(WholeFile, IsNotWaitedForWhenItIsAPipeOrASocket) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("whole-file-kinds-" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  const std::string pipe = folder / "pipe", socket = folder / "socket";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  ASSERT_EQ(::mknod(socket.c_str(), S_IFSOCK | 0600, 0), 0);
  EXPECT_EQ(test::error_of([&] { whole_file(pipe, 9); }),
            "read " + pipe + ": it is a pipe; a regular file is needed");
  EXPECT_EQ(test::error_of([&] { whole_file(socket, 9); }),
            "read " + socket + ": it is a socket; a regular file is needed");
  std::filesystem::remove_all(folder);
}

TEST(WholeFile, KindsHaveNames) {
  EXPECT_EQ(file_kind(S_IFREG | 0644), "a regular file");
  EXPECT_EQ(file_kind(S_IFDIR), "a folder");
  EXPECT_EQ(file_kind(S_IFIFO), "a pipe");
  EXPECT_EQ(file_kind(S_IFSOCK), "a socket");
  EXPECT_EQ(file_kind(S_IFCHR), "a device");
}

TEST(WholeFile, MayBeDevNullWhichIsEmpty) {
  EXPECT_EQ(no_file_at("/dev/null"), "");
  EXPECT_EQ(whole_file("/dev/null", 9), "");
}

}  // namespace
}  // namespace millrace
