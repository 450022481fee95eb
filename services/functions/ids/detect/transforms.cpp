// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/detect/transforms.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <string_view>

#include "services/functions/ids/detect/content_search.hpp"
#include "shared/base/ascii.hpp"
#include "shared/base/error.hpp"
#include "shared/base/hex_digit.hpp"

namespace millrace {
namespace {

using Kind = Transform::Kind;

bool is_space(char byte) noexcept { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }
char lower(char byte) noexcept {
  return static_cast<char>(ascii_lower(static_cast<unsigned char>(byte)));
}
char upper(char byte) noexcept {
  return byte >= 'a' && byte <= 'z' ? static_cast<char>(byte - 'a' + 'A') : byte;
}

void strip_whitespace(std::string_view in, std::string& out) noexcept {
  std::copy_if(in.begin(), in.end(), std::back_inserter(out),
               [](char byte) { return !is_space(byte); });
}

/// Of blanks in a row the first one is left.
void compress_whitespace(std::string_view in, std::string& out) noexcept {
  std::unique_copy(in.begin(), in.end(), std::back_inserter(out),
                   [](char one, char other) { return is_space(one) && is_space(other); });
}

void url_decode(std::string_view in, std::string& out) noexcept {
  for (std::size_t at = 0; at < in.size(); ++at) {
    const bool has_digits = in[at] == '%' && at + 2 < in.size();
    const auto high = has_digits ? hex_digit(in[at + 1]) : std::nullopt;
    const auto low = has_digits ? hex_digit(in[at + 2]) : std::nullopt;
    if (high && low) {
      out += static_cast<char>(*high << 4 | *low);
      at += 2;
    } else {
      out += in[at] == '+' ? ' ' : in[at];
    }
  }
}

/// Names of headers: from the begin of a line to its colon.
void lower_header_names(std::string_view in, std::string& out) noexcept {
  bool in_name = true;
  for (const char byte : in) {
    if (in_name && byte == ':') in_name = false;
    out += in_name ? lower(byte) : byte;
    if (byte == '\n') in_name = true;
  }
}

/// Leaves out lines that begin with a colon.
void strip_pseudo_headers(std::string_view in, std::string& out) noexcept {
  while (!in.empty()) {
    const std::size_t length = std::min(in.find('\n'), in.size() - 1) + 1;
    if (in.front() != ':') out += in.substr(0, length);
    in.remove_prefix(length);
  }
}

void exclusive_or(std::string_view in, std::uint64_t base, const std::string& key,
                  std::string& out) noexcept {
  std::size_t at = base % key.size();
  for (const char byte : in) {
    out +=
        static_cast<char>(static_cast<unsigned char>(byte) ^ static_cast<unsigned char>(key[at]));
    at = at + 1 == key.size() ? 0 : at + 1;
  }
}

/// Nothing, where libcrypto refuses the digest (MD5 in FIPS mode).
void digest(std::string_view in, const EVP_MD* kind, std::string& out) noexcept {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned length = 0;
  if (EVP_Digest(in.data(), in.size(), bytes.data(), &length, kind, nullptr) != 1) return;
  out.assign(reinterpret_cast<const char*>(bytes.data()), length);
}

/// A text that does not match stays as it is. Of one that cannot be looked at nothing is left.
void leave_group(std::string_view in, const Regex& regex, RegexScratch& scratch,
                 std::string& out) noexcept {
  const RegexMatch match = regex.find({.bytes = std::as_bytes(std::span(in))}, scratch);
  if (match.found == RegexMatch::Found::kFailed) return out.clear();
  const bool is_found = match.found == RegexMatch::Found::kYes && match.group_begin != kNotFound;
  out = is_found ? in.substr(match.group_begin, match.group_end - match.group_begin) : in;
}

void transform(const Transform& step, std::string_view in, std::uint64_t base,
               std::string& out) noexcept {
  switch (step.kind) {
    case Kind::kToLowercase:
      std::transform(in.begin(), in.end(), std::back_inserter(out), lower);
      break;
    case Kind::kToUppercase:
      std::transform(in.begin(), in.end(), std::back_inserter(out), upper);
      break;
    case Kind::kStripWhitespace:
      strip_whitespace(in, out);
      break;
    case Kind::kCompressWhitespace:
      compress_whitespace(in, out);
      break;
    case Kind::kUrlDecode:
      url_decode(in, out);
      break;
    case Kind::kDotPrefix:
      if (base == 0) out = '.';
      out += in;
      break;
    case Kind::kToMd5:
      digest(in, EVP_md5(), out);
      break;
    case Kind::kToSha1:
      digest(in, EVP_sha1(), out);
      break;
    case Kind::kToSha256:
      digest(in, EVP_sha256(), out);
      break;
    case Kind::kXor:
      exclusive_or(in, base, step.text, out);
      break;
    case Kind::kHeaderLowercase:
      lower_header_names(in, out);
      break;
    case Kind::kStripPseudoHeaders:
      strip_pseudo_headers(in, out);
      break;
    case Kind::kPcre:    // leave_group()
    case Kind::kDomain:  // refused
    case Kind::kTld:
      break;
  }
}

/// What follows leaves the outcome's begin as it is.
bool goes_byte_by_byte(Kind kind) noexcept {
  switch (kind) {
    case Kind::kToLowercase:
    case Kind::kToUppercase:
    case Kind::kStripWhitespace:
    case Kind::kCompressWhitespace:
    case Kind::kDotPrefix:
    case Kind::kXor:
    case Kind::kHeaderLowercase:
      return true;
    default:
      return false;
  }
}

}  // namespace

Transforms::Transforms(std::span<const Transform> transforms) : transforms_(transforms) {
  for (const Transform& step : transforms) {
    if (step.kind == Kind::kDomain || step.kind == Kind::kTld) {
      throw Error("the transforms domain and tld need a list of public suffixes");
    }
    if (step.kind == Kind::kXor && step.text.empty()) throw Error("xor has no key");
    if (step.kind == Kind::kPcre) {
      while_doing("pcrexform " + step.text, [&] { regexes_.emplace_back(step.text, 0); });
      if (regexes_.back().groups() != 1) throw Error("pcrexform has not exactly one group");
    }
    if (!goes_byte_by_byte(step.kind)) needs_all_ = true;
  }
}

BufferValue Transforms::apply(const BufferValue& value, TransformScratch& scratch,
                              RegexScratch& regex_scratch) const noexcept {
  BufferValue result = value;
  std::size_t turn = 0;
  auto regex = regexes_.begin();
  for (const Transform& step : transforms_) {
    const std::string_view in(reinterpret_cast<const char*>(result.bytes.data()),
                              result.bytes.size());
    std::string& out = scratch.texts[turn];
    out.clear();
    if (step.kind == Kind::kPcre) {
      leave_group(in, *regex++, regex_scratch, out);
    } else {
      transform(step, in, value.base, out);
    }
    result.bytes = std::as_bytes(std::span(out));
    result.seen = 0;
    turn = 1 - turn;
  }
  return result;
}

}  // namespace millrace
