// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/acl/acl_words.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <system_error>

#include "services/functions/acl/acl_text.hpp"
#include "shared/base/quoted.hpp"

namespace millrace {
namespace {

bool is_blank(char byte) { return byte == ' ' || byte == '\t'; }
bool is_printable(char byte) { return byte >= 0x20 && byte < 0x7f; }

/// Clears what is behind the prefix; true when something was there.
bool clear_host_bits(AclPrefix& prefix, unsigned bits) {
  bool found = false;
  for (unsigned i = 0; i < bits / 8; ++i) {
    const unsigned kept = prefix.length > i * 8 ? std::min(prefix.length - i * 8, 8u) : 0;
    const auto mask = static_cast<std::uint8_t>(0xff00u >> kept);
    found = found || (prefix.bytes[i] & ~mask & 0xff) != 0;
    prefix.bytes[i] &= mask;
  }
  return found;
}

std::string text_of(const AclPrefix& prefix, int family) {
  char text[INET6_ADDRSTRLEN] = "";
  inet_ntop(family, prefix.bytes, text, sizeof text);
  return std::string(text) + "/" + std::to_string(prefix.length);
}

}  // namespace

void AclLine::skip_blanks() {
  while (!text_.empty() && is_blank(text_.front())) text_.remove_prefix(1);
}

std::string_view AclLine::peek() const {
  std::size_t bytes = 0;
  while (bytes < text_.size() && !is_blank(text_[bytes])) ++bytes;
  return text_.substr(0, bytes);
}

bool AclLine::take(std::string_view word) {
  if (peek() != word) return false;
  text_.remove_prefix(word.size());
  skip_blanks();
  return true;
}

std::string_view AclLine::word(const char* what) {
  if (at_end()) throw AclRefusal{std::string(what) + " is missing"};
  const std::string_view found = peek();
  text_.remove_prefix(found.size());
  skip_blanks();
  return found;
}

std::string AclLine::name() {
  std::string name;
  if (!text_.empty() && text_.front() == '"') {
    const std::size_t end = text_.find('"', 1);
    if (end == std::string_view::npos) throw AclRefusal{"the name has no closing quote"};
    name = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    if (!text_.empty() && !is_blank(text_.front()) && text_.front() != '#') {
      throw AclRefusal{"no blank behind the closing quote"};
    }
    skip_blanks();
  } else {
    name = word("the name");
  }
  if (name.empty() || name.size() > kAclNameBytesMax || !std::ranges::all_of(name, is_printable)) {
    throw AclRefusal{"a name has 1 to " + std::to_string(kAclNameBytesMax) +
                     " printable characters"};
  }
  return name;
}

std::uint32_t acl_number(std::string_view word, std::uint32_t max, const char* what) {
  std::string_view digits = word;
  int base = 10;
  if (digits.starts_with("0x") || digits.starts_with("0X")) {
    digits.remove_prefix(2);
    base = 16;
  }
  std::uint32_t value = 0;
  const char* const last = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(digits.data(), last, value, base);
  if (error != std::errc() || end != last || value > max) {
    throw AclRefusal{quoted_word(word) + " is no " + what + " from 0 to " + std::to_string(max)};
  }
  return value;
}

AclPrefix acl_prefix(std::string_view word, bool cut) {
  AclPrefix prefix;
  if (word == "any") return prefix;
  const std::size_t slash = std::min(word.find('/'), word.size());
  const std::string address(word.substr(0, slash));
  const int family = address.find(':') == std::string::npos ? AF_INET : AF_INET6;
  // A zero byte would end the text that inet_pton sees.
  if (address.find('\0') != std::string::npos ||
      inet_pton(family, address.c_str(), prefix.bytes) != 1) {
    throw AclRefusal{quoted_word(word) + " is no IPv4 or IPv6 address, with or without a length"};
  }
  const unsigned bits = family == AF_INET ? 32 : 128;
  prefix.families = family == AF_INET ? kAclIpv4 : kAclIpv6;
  prefix.length = static_cast<std::uint8_t>(bits);
  if (slash != word.size()) {
    prefix.length =
        static_cast<std::uint8_t>(acl_number(word.substr(slash + 1), bits, "prefix length"));
  }
  if (clear_host_bits(prefix, bits) && !cut) {
    throw AclRefusal{quoted_word(word) + " has bits behind its prefix; the network is " +
                     text_of(prefix, family)};
  }
  return prefix;
}

void acl_set_addresses(const AclPrefix& source, const AclPrefix& destination, std::uint8_t families,
                       AclRule& rule) {
  rule.families = families & source.families & destination.families;
  if (rule.families == 0) {
    throw AclRefusal{"IPv4 and IPv6 in one rule: nothing could match it"};
  }
  std::memcpy(rule.source, source.bytes, sizeof rule.source);
  std::memcpy(rule.destination, destination.bytes, sizeof rule.destination);
  rule.source_length = source.length;
  rule.destination_length = destination.length;
}

}  // namespace millrace
