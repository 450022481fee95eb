// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace millrace {

/// A line for people on standard error, which is the process's log: time, process, text. In one
/// piece, so that processes may share a file. Not for data threads at work.
///
///     2026-11-22T08:24:46.123456Z front.0: resident kernel on GPU 0
void say(std::string_view who, std::string_view text) noexcept;

/// "2026-11-22T08:24:46.123456Z": system clock, UTC.
std::string time_stamp(std::uint64_t time_ns);

/// What a line that was said consists of.
struct Said {
  std::uint64_t time_ns = 0;
  std::string_view rest;  ///< behind the time: "front.0: resident kernel on GPU 0"
};
/// Nothing: the line does not begin with a time stamp; a library said it.
std::optional<Said> parse_said(std::string_view line);

}  // namespace millrace
