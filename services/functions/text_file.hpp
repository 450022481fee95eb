// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

/// How all functions read a text file of lines that an operator wrote: rules, routes. A byte that
/// an editor adds must not cost a line, and bytes that are no text must not pass as a comment: in a
/// filter either is a hole.

namespace millrace {

/// The text of `bytes`, the contents of `file` (used in messages). Lines end by LF, also those that
/// ended by CR LF; byte order marks of UTF-8 at the start of a line are taken away (files with one
/// that were put together have some inside). Throws Error "file:line: ..." for text of UTF-16 or
/// UTF-32, a zero byte, and a CR inside a line.
std::string text_of_lines(std::string bytes, const std::string& file);

/// The same of the contents of `path`, at most `bytes_max`. Throws Error as whole_file() too.
std::string read_text_file(const std::string& path, std::size_t bytes_max);

}  // namespace millrace
