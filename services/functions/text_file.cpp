// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/text_file.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "shared/base/error.hpp"
#include "shared/base/whole_file.hpp"

namespace millrace {
namespace {

constexpr std::string_view kMark = "\xef\xbb\xbf";  // of UTF-8
constexpr std::string_view kWideLow = "\xff\xfe", kWideHigh = "\xfe\xff";
constexpr std::string_view kWiderHigh("\0\0\xfe\xff", 4);

Error no_text(const std::string& file, std::size_t line, const std::string& why) {
  return Error(file + ":" + std::to_string(line) + ": " + why);
}

void refuse_wide(std::string_view text, const std::string& file) {
  // The mark of UTF-32 with the low byte first begins with that of UTF-16.
  for (const std::string_view mark : {kWideLow, kWideHigh, kWiderHigh}) {
    if (!text.starts_with(mark)) continue;
    throw no_text(file, 1, "text of UTF-16 or UTF-32; save the file as UTF-8");
  }
}

}  // namespace

std::string text_of_lines(std::string bytes, const std::string& file) {
  refuse_wide(bytes, file);
  // In place: a line only gets shorter.
  std::size_t to = 0;
  std::size_t number = 1;
  for (std::size_t from = 0; from < bytes.size(); ++number) {
    std::size_t end = std::min(bytes.find('\n', from), bytes.size());
    const std::size_t next = std::min(end + 1, bytes.size());
    const bool has_end = next != end;
    if (end != from && bytes[end - 1] == '\r') --end;
    while (std::string_view(bytes).substr(from, end - from).starts_with(kMark)) {
      from += kMark.size();
    }
    const std::string_view line = std::string_view(bytes).substr(from, end - from);
    if (line.find('\0') != line.npos) {
      throw no_text(file, number, "a zero byte; a text file in UTF-8 is needed");
    }
    if (line.find('\r') != line.npos) {
      throw no_text(file, number, "a CR (0x0d) inside the line; lines end by LF or by CR and LF");
    }
    std::copy(line.begin(), line.end(), bytes.begin() + static_cast<std::ptrdiff_t>(to));
    to += line.size();
    if (has_end) bytes[to++] = '\n';
    from = next;
  }
  bytes.resize(to);
  return bytes;
}

std::string read_text_file(const std::string& path, std::size_t bytes_max) {
  return text_of_lines(whole_file(path, bytes_max), path);
}

}  // namespace millrace
