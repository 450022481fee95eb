// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/mime_reader.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include "services/functions/ids/detect/base64_text.hpp"
#include "shared/base/ascii.hpp"
#include "shared/base/hex_digit.hpp"

namespace millrace {
namespace {

constexpr std::string_view kDashes = "--", kBlanks = " \t\r\n";

std::string_view without_blanks_behind(std::string_view text) noexcept {
  return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

std::string_view line_end_of(std::string_view line) noexcept {
  if (line.ends_with("\r\n")) return "\r\n";
  return line.ends_with('\n') ? "\n" : "";
}

/// The value of a header with that name, which has its colon.
std::optional<std::string_view> value_of(std::string_view header, std::string_view name) noexcept {
  if (!starts_with_nocase(header, name)) return std::nullopt;
  header.remove_prefix(name.size());
  header.remove_prefix(std::min(header.find_first_not_of(kBlanks), header.size()));
  return without_blanks_behind(header);
}

bool is_base64(char letter) noexcept {
  return is_ascii_alnum(letter) || letter == '+' || letter == '/' || letter == '=';
}

}  // namespace

std::size_t MimeReader::held() const noexcept {
  std::size_t bytes =
      header_.capacity() + type_.capacity() + disposition_.capacity() + held_.capacity();
  for (const std::string& one : boundaries_) bytes += sizeof(std::string) + one.capacity();
  return bytes;
}

void MimeReader::read(std::string_view piece, bool begins, FileSink& sink) {
  if (begins && piece.starts_with(kDashes) && take_boundary(piece, sink)) return;
  if (at_ == At::kHeader) return read_header(piece, begins, sink);
  if (at_ == At::kBody) read_body(piece, sink);
}

void MimeReader::end(FileSink& sink) {
  end_part(sink);
  *this = {};
}

/// A boundary ends all parts within its own.
bool MimeReader::take_boundary(std::string_view line, FileSink& sink) {
  line = without_blanks_behind(line).substr(kDashes.size());
  for (std::size_t at = boundaries_.size(); at-- > 0;) {
    if (!line.starts_with(boundaries_[at])) continue;
    const std::string_view rest = line.substr(boundaries_[at].size());
    if (!rest.empty() && rest != kDashes) continue;
    end_part(sink);
    boundaries_.resize(rest.empty() ? at + 1 : at);
    begin_part();
    if (!rest.empty()) at_ = At::kOutside;
    return true;
  }
  return false;
}

void MimeReader::begin_part() {
  header_.clear();
  type_.clear();
  disposition_.clear();
  encoding_ = Encoding::kPlain;
  at_ = At::kHeader;
}

void MimeReader::read_header(std::string_view piece, bool begins, FileSink& sink) {
  const bool goes_on = !begins || piece.starts_with(' ') || piece.starts_with('\t');
  if (!goes_on) {
    take_header();
    if (without_blanks_behind(piece).empty()) return end_header(sink);
  }
  header_.append(piece.substr(0, kHeaderBytesMax - std::min(header_.size(), kHeaderBytesMax)));
}

void MimeReader::take_header() {
  if (const auto type = value_of(header_, "content-type:")) type_ = *type;
  if (const auto how = value_of(header_, "content-disposition:")) disposition_ = *how;
  if (const auto encoding = value_of(header_, "content-transfer-encoding:")) {
    if (starts_with_nocase(*encoding, "base64")) encoding_ = Encoding::kBase64;
    if (starts_with_nocase(*encoding, "quoted-printable")) encoding_ = Encoding::kQuoted;
  }
  header_.clear();
}

void MimeReader::end_header(FileSink& sink) {
  const std::string_view boundary =
      starts_with_nocase(type_, "multipart/") ? boundary_of(type_) : std::string_view{};
  if (!boundary.empty() && boundaries_.size() < kBoundariesMax) {
    boundaries_.emplace_back(boundary);
    at_ = At::kOutside;
    return;
  }
  if (starts_with_nocase(type_, "message/rfc822") && encoding_ == Encoding::kPlain) {
    return begin_part();
  }
  sink.begin_file(filename_of(disposition_).value_or(std::string_view{}));
  at_ = At::kBody;
}

void MimeReader::end_part(FileSink& sink) {
  if (at_ == At::kBody) {
    if (encoding_ == Encoding::kBase64) read_base64("====", sink);
    sink.end_file();
  }
  held_.clear();
  ending_ = {};
  holds_return_ = false;
  at_ = At::kOutside;
}

void MimeReader::give(std::string_view bytes, FileSink& sink) {
  if (!ending_.empty()) sink.file_bytes(ending_);
  ending_ = {};
  if (!bytes.empty()) sink.file_bytes(bytes);
}

void MimeReader::read_body(std::string_view piece, FileSink& sink) {
  if (encoding_ == Encoding::kBase64) return read_base64(piece, sink);
  std::string joined;
  if (std::exchange(holds_return_, false)) piece = joined = "\r" + std::string(piece);
  holds_return_ = piece.ends_with('\r');  // a piece may end within a line's end
  if (holds_return_) piece.remove_suffix(1);
  const std::string_view ending = line_end_of(piece);
  piece.remove_suffix(ending.size());
  bool is_soft = false;
  if (encoding_ == Encoding::kQuoted) {
    is_soft = read_quoted(piece, !ending.empty(), sink);
  } else {
    give(piece, sink);
  }
  if (!is_soft) ending_ = ending;
}

/// Padding at the end of the body fills the last group.
void MimeReader::read_base64(std::string_view piece, FileSink& sink) {
  std::ranges::copy_if(piece, std::back_inserter(held_), is_base64);
  constexpr std::size_t kGroup = 4;
  const std::size_t bytes = held_.size() - held_.size() % kGroup;
  std::string decoded(base64_bytes_max(bytes), '\0');
  const Base64Text text =
      decode_base64(std::as_bytes(std::span(held_)).first(bytes), Base64Form::kMime, true,
                    std::as_writable_bytes(std::span(decoded)));
  held_.erase(0, bytes);
  if (text.written != 0) sink.file_bytes(std::string_view(decoded).substr(0, text.written));
}

/// "=41" is a byte. True: "=" at the line's end takes the end away.
bool MimeReader::read_quoted(std::string_view text, bool ends_line, FileSink& sink) {
  held_.append(text);
  constexpr std::size_t kEscape = 3;
  std::string decoded;
  std::size_t at = 0;
  while (at < held_.size()) {
    const bool is_escape = held_[at] == '=';
    if (is_escape && !ends_line && held_.size() - at < kEscape) break;
    if (is_escape && at + 1 == held_.size()) {
      give(decoded, sink);
      held_.clear();
      return true;
    }
    const bool has_digits = is_escape && held_.size() - at >= kEscape;
    const auto high = has_digits ? hex_digit(held_[at + 1]) : std::nullopt;
    const auto low = has_digits ? hex_digit(held_[at + 2]) : std::nullopt;
    const bool is_byte = high && low;
    decoded += is_byte ? static_cast<char>(*high << 4 | *low) : held_[at];
    at += is_byte ? kEscape : 1;
  }
  held_.erase(0, at);
  give(decoded, sink);
  return false;
}

}  // namespace millrace
