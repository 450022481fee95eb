// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/detect/content_search.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace millrace {
namespace {

std::span<const std::byte> search_text(const std::string& text) {
  return std::as_bytes(std::span(text));
}

/// Place by place, byte by byte.
std::size_t find_slowly(const std::string& text, std::size_t from, const Needle& needle) {
  for (std::size_t at = from; at + needle.bytes.size() <= text.size(); ++at) {
    bool is_same = true;
    for (std::size_t i = 0; i < needle.bytes.size(); ++i) {
      char byte = text[at + i];
      if (needle.nocase && byte >= 'A' && byte <= 'Z') byte = static_cast<char>(byte - 'A' + 'a');
      is_same = is_same && byte == needle.bytes[i];
    }
    if (is_same) return at;
  }
  return kNotFound;
}

TEST(ContentSearch, FindsWhatTryingEveryPlaceFinds) {
  std::mt19937 random(1);
  std::size_t found = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text(random() % 200, '\0');
    for (char& byte : text) byte = "abAB"[random() % 4];
    std::string bytes(1 + random() % (random() % 4 == 0 ? 40 : 5), '\0');
    const bool nocase = random() % 2 == 0;
    for (char& byte : bytes) byte = "abAB"[random() % (nocase ? 2 : 4)];
    if (random() % 3 == 0 && !text.empty() && !nocase) {
      bytes = text.substr(random() % text.size(), 1 + random() % 60);
    }
    const Needle needle{.bytes = bytes, .nocase = nocase};
    const std::size_t from = random() % (text.size() + 2);
    const std::size_t at = find_content(search_text(text), from, needle);
    ASSERT_EQ(at, find_slowly(text, from, needle)) << text << " " << bytes << " " << from;
    if (at == kNotFound) continue;
    ++found;
    ASSERT_TRUE(is_content_at(search_text(text), at, needle));
  }
  EXPECT_GT(found, 5000u);
}

TEST(ContentSearch, FoldsLettersOfAsciiAlone) {
  const std::string text = "\xC4@[`{A";
  EXPECT_EQ(find_content(search_text(text), 0, {.bytes = "\xE4", .nocase = true}), kNotFound);
  EXPECT_EQ(find_content(search_text(text), 0, {.bytes = "`", .nocase = true}), 3u);
  EXPECT_EQ(find_content(search_text(text), 0, {.bytes = "{", .nocase = true}), 4u);
  EXPECT_EQ(find_content(search_text(text), 0, {.bytes = "a", .nocase = true}), 5u);
  EXPECT_EQ(find_content(search_text(text), 0, {.bytes = "a"}), kNotFound);
}

TEST(ContentSearch, NothingIsInNothing) {
  EXPECT_EQ(find_content({}, 0, {.bytes = "a"}), kNotFound);
  EXPECT_EQ(find_content({}, 0, {.bytes = ""}), kNotFound);
  EXPECT_EQ(find_content({}, 7, {.bytes = "a"}), kNotFound);
}

}  // namespace
}  // namespace millrace
