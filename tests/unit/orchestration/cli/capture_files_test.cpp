// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/capture_files.hpp"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "io-worker/ports/capture_reader.hpp"
#include "shared/base/error.hpp"

namespace millrace {
namespace {

class CaptureFilesTest : public ::testing::Test {
 protected:
  CaptureFilesTest() { std::filesystem::create_directory(folder_); }
  ~CaptureFilesTest() override { std::filesystem::remove_all(folder_); }
  /// Packets of 100 bytes until so many files were begun; each packet has the file's number.
  std::vector<std::string> fill(CaptureFiles::Limits limits, std::uint64_t count) {
    std::vector<std::string> opened;
    CaptureFiles files(folder_ + "/c", limits, {{"wan in", "", 0}}, [&](const std::string& path) {
      opened.push_back(std::filesystem::path(path).filename());
    });
    while (files.count() < count) {
      put(files);
      const bool goes_on = !files.is_full() || files.next();
      EXPECT_TRUE(goes_on);
    }
    put(files);
    EXPECT_TRUE(files.writer().flush());
    return opened;
  }
  static void put(CaptureFiles& files) {
    std::array<std::byte, 100> bytes{std::byte(files.count())};
    files.writer().packet(0, {bytes, 100, 1}, PcapngDirection::kIn, "");
  }
  /// First bytes of the packets of a file.
  std::vector<unsigned> in(const std::string& name) const {
    CaptureReader reader(folder_ + "/" + name);
    std::vector<unsigned> found;
    CaptureRecord record;
    while (reader.next(record) == CaptureStatus::kRecord) {
      found.push_back(std::to_integer<unsigned>(record.bytes[0]));
    }
    return found;
  }

  std::string folder_ = testing::TempDir() + "capture_files_test";
};

using Names = std::vector<std::string>;

TEST_F(CaptureFilesTest, WithoutALimitThereIsOne) {
  EXPECT_EQ(fill({}, 1), Names{"c"});
  EXPECT_EQ(in("c"), std::vector<unsigned>{1});
}

TEST_F(CaptureFilesTest, AFullOneIsFollowedByTheNext) {
  EXPECT_EQ(fill({.bytes = 1000}, 3), (Names{"c", "c1", "c2"}));
  for (unsigned number = 1; number < 3; ++number) {
    const std::string name = number == 1 ? "c" : "c1";
    const auto size = std::filesystem::file_size(folder_ + "/" + name);
    EXPECT_GE(size, 1000u);
    EXPECT_LT(size, 1200u) << "one packet beyond at most";
    const std::vector<unsigned> found = in(name);
    EXPECT_EQ(found, std::vector<unsigned>(found.size(), number));
    EXPECT_GT(found.size(), 4u);
  }
  EXPECT_EQ(in("c2"), std::vector<unsigned>{3});
}

TEST_F(CaptureFilesTest, ARingWritesItsFilesAgain) {
  EXPECT_EQ(fill({.bytes = 1000, .files = 11}, 13),
            (Names{"c00", "c01", "c02", "c03", "c04", "c05", "c06", "c07", "c08", "c09", "c10",
                   "c00", "c01"}));
  EXPECT_EQ(in("c00").front(), 12u);
  EXPECT_EQ(in("c01"), std::vector<unsigned>{13});
  EXPECT_EQ(in("c02").front(), 3u);
}

TEST_F(CaptureFilesTest, APathThatIsRefusedIsNotOpened) {
  const auto refuse = [](const std::string&) { throw Error("in use"); };
  EXPECT_THROW(CaptureFiles(folder_ + "/c", {}, {{"a", "", 0}}, refuse), Error);
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/c"));
  EXPECT_THROW(CaptureFiles(folder_ + "/no/c", {}, {{"a", "", 0}}, [](const std::string&) {}),
               Error);
}

}  // namespace
}  // namespace millrace
