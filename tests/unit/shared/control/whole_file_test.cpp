// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/control/whole_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "shared/base/error.hpp"

namespace millrace {
namespace {

class WholeFile : public testing::Test {
 protected:
  WholeFile() {
    char pattern[] = "/tmp/millrace-file-XXXXXX";
    folder_ = ::mkdtemp(pattern);
    path_ = folder_ + "/file";
  }
  ~WholeFile() override { std::filesystem::remove_all(folder_); }

  std::string folder_, path_;
};

TEST_F(WholeFile, GivesBackWhatWasWritten) {
  std::vector<std::byte> bytes(100'000);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 7);
  write_whole_file(path_, bytes);
  EXPECT_EQ(std::filesystem::file_size(path_), bytes.size());
  EXPECT_EQ(read_whole_file(path_, bytes.size()), bytes);
}

TEST_F(WholeFile, ReplacesWhatWasThere) {
  std::ofstream(path_) << "something much longer";
  const std::string text = "short";
  write_whole_file(path_, std::as_bytes(std::span(text)));
  std::ifstream file(path_);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "short");
}

TEST_F(WholeFile, RefusesALongerFileThanAsked) {
  std::ofstream(path_) << "12345";
  EXPECT_THROW(read_whole_file(path_, 4), Error);
  EXPECT_EQ(read_whole_file(path_, 5).size(), 5U);
}

TEST_F(WholeFile, NamesAFileThatCannotBeOpened) {
  try {
    read_whole_file(path_, 10);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("open " + path_ + ": No such file"));
  }
}

}  // namespace
}  // namespace millrace
