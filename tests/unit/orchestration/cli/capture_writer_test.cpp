// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "orchestration/cli/capture_writer.hpp"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <iterator>

#include "shared/base/error.hpp"
#include "tests/unit/orchestration/cli/capture_bytes.hpp"

namespace millrace {
namespace {

TEST(CaptureWriter, WritesWhatAnotherWriterWrites) {
  constexpr std::uint32_t kNanoseconds = 0xa1b23c4d;
  const std::string path = testing::TempDir() + "millrace-capture-" + std::to_string(getpid());
  const std::array<std::byte, 3> packet = {std::byte{'a'}, std::byte{'b'}, std::byte{'c'}};
  CaptureWriter writer(path);
  writer.write({.bytes = packet, .wire_length = 90, .time_ns = 3'000'123'456});
  writer.write({.bytes = {}, .wire_length = 1, .time_ns = 999'999'999});
  writer.finish();
  CaptureBytes expected(kNanoseconds);
  expected.add("abc", 90, 3, 123'456);
  expected.add("", 1, 0, 999'999'999);
  expected.save(path + ".expected");
  std::ifstream left(path, std::ios::binary), right(path + ".expected", std::ios::binary);
  const std::string found{std::istreambuf_iterator<char>(left), {}};
  const std::string wanted{std::istreambuf_iterator<char>(right), {}};
  EXPECT_EQ(found, wanted);
  std::filesystem::remove(path);
  std::filesystem::remove(path + ".expected");
}

TEST(CaptureWriter, AFullFileSystemOrAMissingFolderIsAnError) {
  EXPECT_THROW(CaptureWriter("/nowhere/x.pcap"), Error);
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "/dev/full is not there";
  CaptureWriter writer("/dev/full");
  writer.write({});
  EXPECT_THROW(writer.finish(), Error);
}

}  // namespace
}  // namespace millrace
