// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/http_multipart.hpp"

#include <strings.h>

#include <algorithm>
#include <cctype>

namespace millrace {

namespace {

constexpr std::size_t kBoundaryBytes = 200;
/// A part's header beyond that has no filename.
constexpr std::size_t kPartHeaderBytes = 8u << 10;
constexpr std::string_view kHeaderEnd = "\r\n\r\n";
constexpr std::string_view kLineEnd = "\r\n";

bool begins_with(std::string_view text, std::string_view name) {
  return text.size() >= name.size() && strncasecmp(text.data(), name.data(), name.size()) == 0;
}

std::string_view without_blanks_in_front(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) {
    text.remove_prefix(1);
  }
  return text;
}

/// Bytes in front of the next ';' that is not within quotes.
std::size_t parameter_bytes(std::string_view text) {
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escaped = i > 0 && text[i - 1] == '\\';
    if (text[i] == '"' && !escaped) quoted = !quoted;
    if (text[i] == ';' && !escaped && !quoted) return i;
  }
  return text.size();
}

/// The value of the parameter "name=" without its quotes.
std::optional<std::string_view> parameter_of(std::string_view header, std::string_view name) {
  while (!header.empty()) {
    header = without_blanks_in_front(header);
    const std::size_t bytes = parameter_bytes(header);
    std::string_view value = header.substr(0, bytes);
    if (value.size() > name.size() && begins_with(value, name)) {
      value.remove_prefix(name.size());
      if (value.front() == '"') value.remove_prefix(1);
      if (!value.empty() && value.back() == '"') value.remove_suffix(1);
      return value;
    }
    header.remove_prefix(std::min(bytes + 1, header.size()));
  }
  return std::nullopt;
}

/// The name of the file in the lines of a part's header.
std::optional<std::string_view> name_in(std::string_view lines) {
  constexpr std::string_view kDisposition = "content-disposition:";
  std::optional<std::string_view> name;
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find(kLineEnd));
    if (begins_with(line, kDisposition)) name = filename_of(line.substr(kDisposition.size()));
    lines.remove_prefix(std::min(line.size() + kLineEnd.size(), lines.size()));
  }
  return name;
}

}  // namespace

std::optional<std::string_view> filename_of(std::string_view disposition) noexcept {
  return parameter_of(disposition, "filename=");
}

std::string_view boundary_of(std::string_view content_type) noexcept {
  const std::string_view found = parameter_of(content_type, "boundary=").value_or("");
  return found.size() < kBoundaryBytes ? found : std::string_view{};
}

MultipartReader::MultipartReader(std::string_view boundary)
    : mark_(std::string("--").append(boundary)) {}

void MultipartReader::read(std::string_view bytes, FileSink& sink) {
  held_.append(bytes);
  while (step(sink)) {
  }
  held_.erase(0, used_);
  used_ = 0;
}

void MultipartReader::end(FileSink& sink) {
  if (at_ != At::kFile) return;
  give(rest().size(), sink);
  sink.end_file();
  at_ = At::kOutside;
}

/// Goes to the next state, if there are bytes enough to tell.
bool MultipartReader::step(FileSink& sink) {
  switch (at_) {
    case At::kOutside:
      return skip_to_boundary();
    case At::kHeader:
      return read_header(sink);
    case At::kFile:
      return read_file(sink);
  }
  return false;
}

bool MultipartReader::skip_to_boundary() {
  const std::size_t found = rest().find(mark_);
  if (found == std::string_view::npos) {
    used_ += rest().size() - std::min(rest().size(), mark_.size() - 1);
    return false;
  }
  used_ += found + mark_.size();
  at_ = At::kHeader;
  return true;
}

/// A header ends at an empty line. A boundary in front of that ends a part without one, such as the
/// form's end.
bool MultipartReader::read_header(FileSink& sink) {
  const std::string_view window = rest().substr(0, kPartHeaderBytes);
  const std::size_t next = window.find(mark_);
  const std::size_t end = window.substr(0, next).find(kHeaderEnd);
  if (end == std::string_view::npos) {
    if (next == std::string_view::npos && window.size() < kPartHeaderBytes) return false;
    at_ = At::kOutside;
    return true;
  }
  const std::optional<std::string_view> name = name_in(window.substr(0, end));
  used_ += end + kHeaderEnd.size();
  at_ = name ? At::kFile : At::kOutside;
  if (name) sink.begin_file(*name);
  return true;
}

/// The line's end in front of a boundary is not the file's.
bool MultipartReader::read_file(FileSink& sink) {
  const std::size_t found = rest().find(mark_);
  if (found == std::string_view::npos) {
    const std::size_t kept = mark_.size() - 1 + kLineEnd.size();
    if (rest().size() > kept) give(rest().size() - kept, sink);
    return false;
  }
  const bool has_line_end = rest().substr(0, found).ends_with(kLineEnd);
  give(found - (has_line_end ? kLineEnd.size() : 0), sink);
  sink.end_file();
  at_ = At::kOutside;
  return true;
}

void MultipartReader::give(std::size_t bytes, FileSink& sink) {
  if (bytes == 0) return;
  sink.file_bytes(rest().substr(0, bytes));
  used_ += bytes;
}

}  // namespace millrace
