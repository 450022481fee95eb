// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/base/whole_file.hpp"

#include <gtest/gtest.h>

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
  EXPECT_EQ(test::error_of([] { whole_file("/tmp", 9); }), "read /tmp: Is a directory");
  EXPECT_EQ(test::error_of([] { whole_file("/dev/zero", 9); }),
            "read /dev/zero: it has more than 9 bytes")
      << "one without an end";
}

}  // namespace
}  // namespace millrace
