// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "io-worker/ports/file_window.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "tests/unit/io-worker/ports/capture_files.hpp"

namespace millrace {
namespace {

using test::error_of;
using test::TestFolder;

std::string text_of(std::size_t count) {
  std::string text(count, 0);
  for (std::size_t i = 0; i < count; ++i) text[i] = static_cast<char>(i * 7 + i / 251);
  return text;
}

TEST(FileWindow, ShowsEveryByteOnceWhateverThePieces) {
  const TestFolder folder;
  const std::string text = text_of(10'000);
  for (const std::size_t piece : {1u, 3u, 64u, 100u}) {
    FileWindow window(open_file(folder.write("a", text), O_RDONLY), 100);
    std::string seen;
    while (const std::byte* bytes = window.need(piece)) {
      seen.append(reinterpret_cast<const char*>(bytes), piece);
      window.consume(piece);
    }
    EXPECT_EQ(seen, text.substr(0, text.size() / piece * piece));
    EXPECT_EQ(window.offset(), seen.size());
    EXPECT_EQ(window.at_end(), seen.size() == text.size());
    EXPECT_EQ(window.error(), 0);
  }
}

TEST(FileWindow, KeepsWhatWasNotConsumedWhenMoreIsAsked) {
  const TestFolder folder;
  FileWindow window(open_file(folder.write("a", "abcdefgh"), O_RDONLY), 4);
  ASSERT_NE(window.need(2), nullptr);
  window.consume(1);
  EXPECT_EQ(static_cast<char>(*window.need(4)), 'b');
  EXPECT_EQ(window.need(8), nullptr);
  EXPECT_EQ(static_cast<char>(*window.need(7)), 'b');
}

TEST(FileWindow, SkipsMoreThanItHolds) {
  const TestFolder folder;
  FileWindow window(open_file(folder.write("a", text_of(1000)), O_RDONLY), 16);
  EXPECT_TRUE(window.skip(900));
  EXPECT_EQ(static_cast<char>(*window.need(1)), text_of(1000)[900]);
  EXPECT_FALSE(window.skip(101));
}

TEST(FileWindow, TellsAReadErrorFromTheEnd) {
  const TestFolder folder;
  FileWindow window(open_file(folder.path(""), O_RDONLY | O_DIRECTORY), 16);
  EXPECT_EQ(window.need(1), nullptr);
  EXPECT_NE(window.error(), 0);
}

TEST(OpenFile, NamesThePath) {
  EXPECT_EQ(error_of([] { open_file("/nowhere/x.pcap", O_RDONLY); }),
            "open /nowhere/x.pcap: No such file or directory");
}

TEST(RegularFileBytes, RefusesWhatIsNotARegularFile) {
  const TestFolder folder;
  EXPECT_EQ(regular_file_bytes(open_file(folder.write("a", "abc"), O_RDONLY), "a"), 3u);
  EXPECT_EQ(error_of([] { regular_file_bytes(open_file("/dev/null", O_RDONLY), "/dev/null"); }),
            "/dev/null: it is a device; a regular file is needed");
}

}  // namespace
}  // namespace millrace
