// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/http_multipart.hpp"

#include <gtest/gtest.h>

#include <random>
#include <utility>
#include <vector>

namespace millrace {
namespace {

struct Files final : FileSink {
  std::vector<std::pair<std::string, std::string>> files;
  int ended = 0;
  void begin_file(std::string_view name) override { files.emplace_back(name, ""); }
  void file_bytes(std::string_view bytes) override { files.back().second += bytes; }
  void end_file() override { ++ended; }
};

Files read_in_pieces(std::string_view body, std::mt19937* random) {
  Files files;
  MultipartReader reader("XyZ");
  while (!body.empty()) {
    const std::size_t bytes =
        random == nullptr ? body.size() : std::min<std::size_t>(1 + (*random)() % 9, body.size());
    reader.read(body.substr(0, bytes), files);
    body.remove_prefix(bytes);
  }
  reader.end(files);
  return files;
}

TEST(HttpMultipart, NamesOfFiles) {
  EXPECT_EQ(filename_of("form-data; name=\"a\"; filename=\"b c.exe\""), "b c.exe");
  EXPECT_EQ(filename_of(" attachment;filename=x.txt"), "x.txt");
  EXPECT_EQ(filename_of("attachment; FileName=\"a;b\"; size=3"), "a;b");
  EXPECT_EQ(filename_of("attachment; filename=\"a\\\";b\""), "a\\\";b");
  EXPECT_EQ(filename_of("form-data; name=\"filename=x\""), std::nullopt);
  EXPECT_EQ(filename_of("attachment; filename="), std::nullopt);
  EXPECT_EQ(filename_of("attachment; filename=\""), "");
  EXPECT_EQ(filename_of("a; filename=\"\""), "");
  EXPECT_EQ(filename_of(""), std::nullopt);
}

TEST(HttpMultipart, Boundaries) {
  EXPECT_EQ(boundary_of("multipart/form-data; boundary=abc"), "abc");
  EXPECT_EQ(boundary_of("multipart/form-data; Boundary=\"a b\"; x=1"), "a b");
  EXPECT_EQ(boundary_of("text/plain"), "");
  EXPECT_EQ(boundary_of("multipart/form-data; boundary=" + std::string(300, 'x')), "");
}

TEST(HttpMultipart, PartsWithAFilenameAreFiles) {
  const std::string body =
      "preamble\r\n--XyZ\r\nContent-Disposition: form-data; name=\"t\"\r\n\r\ntext\r\n"
      "--XyZ\r\ncontent-type: a/b\r\nContent-Disposition: form-data; filename=\"one.bin\"\r\n\r\n"
      "first\r\nfile--XyY\r\n\r\n--XyZ\r\nContent-Disposition: x; filename=two\r\n\r\n\r\n--XyZ\r\n"
      "Content-Disposition: x; filename=three\r\n\r\nlast\r\n--XyZ--\r\n\r\nepilogue";
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"one.bin", "first\r\nfile--XyY\r\n"}, {"two", ""}, {"three", "last"}};
  EXPECT_EQ(read_in_pieces(body, nullptr).files, expected);
  std::mt19937 random(3);
  for (int i = 0; i < 200; ++i) {
    const Files files = read_in_pieces(body, &random);
    ASSERT_EQ(files.files, expected);
    ASSERT_EQ(files.ended, 3);
  }
}

TEST(HttpMultipart, AFileWithoutABoundaryBehindItEndsWithTheBody) {
  const std::string body = "--XyZ\r\nContent-Disposition: x; filename=a\r\n\r\nabc\r\n--Xy";
  const Files files = read_in_pieces(body, nullptr);
  ASSERT_EQ(files.files.size(), 1u);
  EXPECT_EQ(files.files[0].second, "abc\r\n--Xy");
  EXPECT_EQ(files.ended, 1);
}

TEST(HttpMultipart, AHeaderOfAnyLengthIsNotKept) {
  const std::string body = "--XyZ\r\n" + std::string(20'000, 'h') + "\r\n\r\n--XyZ\r\n" +
                           "Content-Disposition: x; filename=a\r\n\r\nabc\r\n--XyZ--";
  std::mt19937 random(5);
  for (const Files& files : {read_in_pieces(body, nullptr), read_in_pieces(body, &random)}) {
    ASSERT_EQ(files.files.size(), 1u);
    EXPECT_EQ(files.files[0].second, "abc");
  }
}

}  // namespace
}  // namespace millrace
