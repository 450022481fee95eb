// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/text_file.hpp"

#include <gtest/gtest.h>

#include <iterator>
#include <random>
#include <string>
#include <utility>

#include "services/functions/table.hpp"
#include "tests/unit/services/functions/acl/acl_folder.hpp"
#include "tests/unit/support/error_of.hpp"

namespace millrace {
namespace {

using std::string_literals::operator""s;

const std::string kMark = "\xef\xbb\xbf";

std::string error_of_text(const std::string& bytes) {
  return test::error_of([&] { text_of_lines(bytes, "dir/f"); });
}

TEST(TextFile, EndsItsLinesByOneByte) {
  EXPECT_EQ(text_of_lines("", "f"), "");
  EXPECT_EQ(text_of_lines("a\nb\n", "f"), "a\nb\n");
  EXPECT_EQ(text_of_lines("a\r\nb\r\n", "f"), "a\nb\n");
  EXPECT_EQ(text_of_lines("a\r\n\r\nb", "f"), "a\n\nb") << "the last line has no end";
  EXPECT_EQ(text_of_lines("a\nb\r", "f"), "a\nb") << "its end is cut off";
  EXPECT_EQ(text_of_lines("\n\n", "f"), "\n\n");
}

TEST(TextFile, HasNoByteOrderMarks) {
  EXPECT_EQ(text_of_lines(kMark, "f"), "");
  EXPECT_EQ(text_of_lines(kMark + "a\n", "f"), "a\n");
  EXPECT_EQ(text_of_lines(kMark + kMark + "a\r\nb", "f"), "a\nb") << "written twice";
  EXPECT_EQ(text_of_lines(kMark + "a\n" + kMark + "b\n" + kMark, "f"), "a\nb\n")
      << "of files that were put together";
  EXPECT_EQ(text_of_lines("a" + kMark + "\n\xef\xbb", "f"), "a" + kMark + "\n\xef\xbb")
      << "elsewhere these are bytes like others";
}

TEST(TextFile, OfAnotherEncodingIsRefused) {
  const std::string wide = "dir/f:1: text of UTF-16 or UTF-32; save the file as UTF-8";
  EXPECT_EQ(error_of_text("\xff\xfe"s + "d\0r\0"s), wide);
  EXPECT_EQ(error_of_text("\xfe\xff\0d\0r"s), wide);
  EXPECT_EQ(error_of_text("\0\0\xfe\xff\0\0\0d"s), wide);
  EXPECT_EQ(error_of_text("a\nb\nc\0d\n"s), "dir/f:3: a zero byte; a text file in UTF-8 is needed");
  EXPECT_EQ(error_of_text("d\0r\0"s), "dir/f:1: a zero byte; a text file in UTF-8 is needed");
}

TEST(TextFile, WithLinesThatEndByCrAloneIsRefused) {
  // Else all of it would be a comment.
  EXPECT_EQ(error_of_text("# all\rdrop ip any -> any\r"),
            "dir/f:1: a CR (0x0d) inside the line; lines end by LF or by CR and LF");
  EXPECT_EQ(error_of_text("a\nb\r\r\n"),
            "dir/f:2: a CR (0x0d) inside the line; lines end by LF or by CR and LF");
}

/// Byte by byte, with another way to find lines.
std::string slow_text(const std::string& bytes) {
  std::string text, line;
  const auto end_line = [&] {
    while (line.starts_with(kMark)) line.erase(0, kMark.size());
    text += line;
    line.clear();
  };
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const bool last = i + 1 == bytes.size();
    if (bytes[i] == '\r' && (last || bytes[i + 1] == '\n')) continue;
    if (bytes[i] == '\n') {
      end_line();
      text += '\n';
    } else {
      line += bytes[i];
    }
  }
  end_line();
  return text;
}

TEST(TextFile, AgreesWithSlowCodeOnRandomText) {
  std::mt19937 random(5);
  const std::string parts[] = {"a", "\n", "\r\n", kMark, "\xef", "\xbb", " ", "#"};
  for (int run = 0; run < 2000; ++run) {
    std::string bytes;
    for (std::size_t i = random() % 20; i > 0; --i) bytes += parts[random() % std::size(parts)];
    ASSERT_EQ(text_of_lines(bytes, "f"), slow_text(bytes)) << run;
  }
}

/// Builds the table of a function whose only file holds `text`.
BuildReport build_of(const std::string& type, const AclFolder& folder, const std::string& text) {
  PlanFunction function;
  function.type = function.name = type;
  function.image = folder.path("image");
  function.settings = {{type == "route" ? "table" : "rules", folder.write("f", text)}};
  return function_type(type).build({.function = function, .ports = {}});
}

TEST(TextFile, EveryFunctionTakesItsFirstLineBehindAMark) {
  const std::pair<std::string, std::string> lines[] = {
      {"acl", "drop udp any -> any port 80"},
      {"match", "drop \"hello\""},
      {"route", "0.0.0.0/0 out 02:00:00:00:00:02"}};
  const AclFolder folder;
  for (const auto& [type, line] : lines) {
    for (const std::string& text : {kMark + line, kMark + line + "\r\n"}) {
      const BuildReport report = build_of(type, folder, text);
      EXPECT_EQ(report.accepted, 1u) << type;
      EXPECT_EQ(report.refused, 0u) << type << testing::PrintToString(report.refusals);
    }
  }
}

TEST(TextFile, EveryFunctionSaysThatOneIsEmpty) {
  const AclFolder folder;
  for (const std::string type : {"acl", "firewall", "match", "route"}) {
    for (const char* const text : {"", "\n# nothing\n"}) {
      const BuildReport report = build_of(type, folder, text);
      EXPECT_EQ(report.accepted, 0u) << type;
      EXPECT_EQ(report.refused, 0u) << type;
      ASSERT_EQ(report.refusals.size(), 1u) << type;
      EXPECT_EQ(report.refusals[0], folder.path("f") + ": no entry in it; is it whole?") << type;
    }
  }
}

TEST(TextFile, EveryFunctionRefusesOneOfAnotherEncoding) {
  const AclFolder folder;
  for (const std::string type : {"acl", "match", "route"}) {
    const std::string error = test::error_of([&] { build_of(type, folder, "\xff\xfe"s + "d\0"s); });
    EXPECT_TRUE(
        error.ends_with(folder.path("f") + ":1: text of UTF-16 or UTF-32; save the file as UTF-8"))
        << type << ": " << error;
  }
}

}  // namespace
}  // namespace millrace
