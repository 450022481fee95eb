// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/base/say.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <iterator>

#include "shared/base/clock.hpp"

namespace millrace {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::string_view kPattern = "dddd-dd-ddTdd:dd:dd.ddddddZ ";

struct Stamp {
  char text[40];
};

Stamp stamp_of(std::uint64_t time_ns) noexcept {
  const auto seconds = static_cast<std::time_t>(time_ns / kSecond);
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  Stamp stamp{};
  char day[24];
  std::strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &utc);
  std::snprintf(stamp.text, sizeof stamp.text, "%s.%06uZ", day,
                static_cast<unsigned>(time_ns % kSecond / 1000));
  return stamp;
}

bool is_stamp(std::string_view line) {
  return line.size() >= kPattern.size() &&
         std::equal(kPattern.begin(), kPattern.end(), line.begin(), [](char wanted, char is) {
           return wanted == 'd' ? is >= '0' && is <= '9' : is == wanted;
         });
}

int number_at(std::string_view line, std::size_t at, std::size_t digits) {
  int number = 0;
  std::from_chars(line.data() + at, line.data() + at + digits, number);
  return number;
}

}  // namespace

void say(std::string_view who, std::string_view text) noexcept {
  constexpr std::size_t kLineMax = 2048;
  char line[kLineMax];
  const Stamp stamp = stamp_of(system_clock_ns());
  const int bytes =
      std::snprintf(line, sizeof line, "%s %.*s: %.*s\n", stamp.text, static_cast<int>(who.size()),
                    who.data(), static_cast<int>(text.size()), text.data());
  const std::size_t length = std::min(static_cast<std::size_t>(std::max(bytes, 0)), kLineMax - 1);
  line[kLineMax - 2] = '\n';  // of one that was cut
  // Standard error itself has failed: there is no other place to say it.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line, length);
}

std::string time_stamp(std::uint64_t time_ns) { return stamp_of(time_ns).text; }

std::optional<Said> parse_said(std::string_view line) {
  if (!is_stamp(line)) return std::nullopt;
  std::tm utc{};
  utc.tm_year = number_at(line, 0, 4) - 1900;
  utc.tm_mon = number_at(line, 5, 2) - 1;
  utc.tm_mday = number_at(line, 8, 2);
  utc.tm_hour = number_at(line, 11, 2);
  utc.tm_min = number_at(line, 14, 2);
  utc.tm_sec = number_at(line, 17, 2);
  const std::time_t seconds = ::timegm(&utc);
  if (seconds < 0) return std::nullopt;
  const auto micros = static_cast<std::uint64_t>(number_at(line, 20, 6));
  return Said{static_cast<std::uint64_t>(seconds) * kSecond + micros * 1000,
              line.substr(kPattern.size())};
}

}  // namespace millrace
