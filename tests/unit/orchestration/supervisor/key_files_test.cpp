// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/key_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "shared/base/error.hpp"
#include "tests/unit/support/error_of.hpp"

namespace millrace {
namespace {

using test::error_of;

using testing::HasSubstr;

class KeyFiles : public testing::Test {
 protected:
  KeyFiles() {
    char pattern[] = "/tmp/millrace-keys-XXXXXX";
    folder_ = ::mkdtemp(pattern);
    path_ = folder_ + "/host";
  }
  ~KeyFiles() override { std::filesystem::remove_all(folder_); }

  static mode_t mode_of(const std::string& path) {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 ? info.st_mode & 0777 : 0;
  }
  std::string write(const std::string& text) const {
    std::ofstream(path_) << text;
    std::filesystem::permissions(
        path_, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    return path_;
  }

  std::string folder_, path_;
};

TEST_F(KeyFiles, AreAPairOfWhichOthersReadOneHalf) {
  write_key_files(path_, "me@here");
  EXPECT_EQ(mode_of(path_), 0600U);
  EXPECT_EQ(mode_of(path_ + ".pub"), 0644U);
  const std::vector<std::string> keys = read_public_keys(path_ + ".pub");
  ASSERT_EQ(keys.size(), 1U);
  EXPECT_EQ(read_secret_key(path_).public_key, keys[0]);
}

TEST_F(KeyFiles, AreNeverOverwritten) {
  write_key_files(path_, "");
  const CurveKeys keys = read_secret_key(path_);
  EXPECT_EQ(error_of([&] { write_key_files(path_, ""); }),
            path_ + ".pub is there already; a key is never overwritten: name another file");
  std::filesystem::remove(path_ + ".pub");
  EXPECT_EQ(error_of([&] { write_key_files(path_, ""); }),
            path_ + " is there already; a key is never overwritten: name another file");
  EXPECT_EQ(read_secret_key(path_).secret_key, keys.secret_key);
}

TEST_F(KeyFiles, OfClientsMayHoldSeveral) {
  const std::string first = make_curve_keys().public_key, second = make_curve_keys().public_key;
  write("# who may enter\npublic " + first + " anna\n\n  public " + second + "\n");
  EXPECT_EQ(read_public_keys(path_), (std::vector<std::string>{first, second}));
}

TEST_F(KeyFiles, AreRefusedWhenOthersCanReadASecret) {
  write_key_files(path_, "");
  ::chmod(path_.c_str(), 0644);
  EXPECT_EQ(error_of([&] { read_secret_key(path_); }),
            "key file " + path_ + ": others can read it: chmod o= " + path_);
}

TEST_F(KeyFiles, AreNotTakenForEachOther) {
  write_key_files(path_, "");
  EXPECT_EQ(error_of([&] { read_public_keys(path_); }),
            path_ + ":2: a secret key where a public one belongs: the file with .pub");
  ::chmod((path_ + ".pub").c_str(), 0600);
  EXPECT_EQ(error_of([&] { read_secret_key(path_ + ".pub"); }),
            path_ + ".pub:1: a public key where a secret one belongs: the file without .pub");
}

TEST_F(KeyFiles, SayWhatIsNoKeyWithoutShowingIt) {
  EXPECT_EQ(error_of([&] { read_secret_key(write("hunter2\n")); }),
            path_ + ":1: no line 'secret KEY' as `millrace keys FILE` writes it");
  EXPECT_EQ(error_of([&] { read_secret_key(write("secret hunter2\n")); }),
            path_ + ":1: no line 'secret KEY' as `millrace keys FILE` writes it");
  EXPECT_THAT(error_of([&] { read_secret_key(write("")); }), HasSubstr("no secret key in it"));
  const std::string line = "secret " + make_curve_keys().secret_key + "\n";
  EXPECT_EQ(error_of([&] { read_secret_key(write(line + line)); }),
            path_ + ": more than one secret key");
  EXPECT_THAT(error_of([&] { read_public_keys(folder_ + "/absent"); }),
              HasSubstr("/absent: read it: No such file"));
}

}  // namespace
}  // namespace millrace
