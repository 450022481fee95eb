// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/layout/event_text.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <string>
#include <utility>
#include <vector>

namespace millrace {
namespace {

using Fields = std::vector<std::pair<EventField, std::string>>;

/// An event with `text` behind it.
std::vector<EventRecord> line_of(std::span<const std::byte> text) {
  EventRecord head{};
  head.kind = EventKind::kApp;
  head.app.texts = texts_for(text);
  std::vector<EventRecord> records{head};
  for (std::uint8_t i = 0; i < texts_for(text); ++i) records.push_back(text_record(text, i));
  return records;
}

Fields fields_of(const EventLine& line) {
  Fields fields;
  std::span<const std::byte> rest = line.text();
  while (const auto field = next_field(rest)) {
    fields.emplace_back(field->field, field->text());
  }
  return fields;
}

std::string letters(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += static_cast<char>('a' + i % 26);
  return text;
}

TEST(EventText, WhatIsPutComesBackThroughRecords) {
  for (const std::size_t size : {0u, 1u, 50u, 53u, 54u, 118u, 121u, 122u, 500u, 1900u}) {
    EventTextWriter writer;
    writer.put(EventField::kHttpUrl, letters(size), size);
    writer.put(EventField::kHttpMethod, "GET", 8);
    const auto records = line_of(writer.bytes());
    EXPECT_EQ(records.size(), 1 + (size + 3 + 6 + kEventTextBytes - 1) / kEventTextBytes);
    EventLine line;
    std::span<const EventRecord> rest(records);
    next_line(rest, line);
    ASSERT_TRUE(line.is_whole) << size;
    EXPECT_TRUE(rest.empty());
    EXPECT_EQ(fields_of(line),
              (Fields{{EventField::kHttpUrl, letters(size)}, {EventField::kHttpMethod, "GET"}}));
  }
}

TEST(EventText, ALongValueIsCutAndSaysSo) {
  EventTextWriter writer;
  writer.put(EventField::kHttpUrl, letters(20), 10);
  writer.put(EventField::kHttpHost, letters(10), 10);
  std::span<const std::byte> rest = writer.bytes();
  auto field = next_field(rest);
  ASSERT_TRUE(field);
  EXPECT_TRUE(field->is_cut);
  EXPECT_EQ(field->text(), letters(10));
  field = next_field(rest);
  ASSERT_TRUE(field);
  EXPECT_FALSE(field->is_cut);
  EXPECT_FALSE(next_field(rest));
}

TEST(EventText, WhatFindsNoRoomIsNamed) {
  EventTextWriter writer;
  writer.put(EventField::kHttpUrl, letters(3000), 3000);
  const EventDnsAnswer front{.ttl_s = 1, .type = 2, .name_bytes = 3};
  writer.put(EventField::kDnsAnswer, std::as_bytes(std::span(&front, 1)), {}, 3);
  for (int i = 0; i < 100; ++i) writer.put(EventField::kHttpHost, "host", 4);
  EXPECT_LE(writer.bytes().size(), kEventTextBytesMax);
  EventLine line;
  const auto records = line_of(writer.bytes());
  EXPECT_EQ(records.size(), kEventLineRecordsMax);
  std::span<const EventRecord> rest(records);
  next_line(rest, line);
  ASSERT_TRUE(line.is_whole);
  std::span<const std::byte> text = line.text();
  EXPECT_GT(next_field(text)->value.size(), 1900u);
  const auto answer = next_field(text);
  EXPECT_EQ(answer->field, EventField::kDnsAnswer);
  EXPECT_TRUE(answer->is_cut);
  EXPECT_TRUE(answer->value.empty());
  EXPECT_EQ(next_field(text)->field, EventField::kHttpHost);
}

TEST(EventText, ATextIsPutIntoAnother) {
  EventTextWriter one, other;
  one.put(EventField::kHttpHost, "a.test", 3);
  one.put(EventField::kHttpUrl, letters(100), 100);
  other.put(EventField::kHttpMethod, "GET", 3);
  other.put_text(one.bytes());
  std::span<const std::byte> rest = other.bytes();
  EXPECT_EQ(next_field(rest)->field, EventField::kHttpMethod);
  EXPECT_TRUE(std::ranges::equal(rest, one.bytes()));
  other.clear();
  other.put(EventField::kPayload, letters(1800), 1800);
  other.put_text(one.bytes());
  other.put_text(one.bytes());
  rest = other.bytes();
  std::size_t fields = 0, last = 0;
  while (const auto field = next_field(rest)) {
    ++fields;
    last = field->value.size();
  }
  EXPECT_TRUE(rest.empty());
  EXPECT_EQ(fields, 5u);
  EXPECT_LT(last, 100u);
}

/// The first line of `records`, and how many records it takes.
std::pair<bool, std::size_t> first_line(const std::vector<EventRecord>& records) {
  EventLine line;
  std::span<const EventRecord> rest(records);
  next_line(rest, line);
  return {line.is_whole, records.size() - rest.size()};
}

void change(EventRecord& record, auto&& how) {
  auto text = std::bit_cast<EventText>(record);
  how(text);
  record = std::bit_cast<EventRecord>(text);
}

TEST(EventText, ChainsWithoutSenseAreRefusedRecordByRecord) {
  EventTextWriter writer;
  writer.put(EventField::kHttpUrl, letters(300), 300);
  const std::vector<EventRecord> good = line_of(writer.bytes());
  ASSERT_EQ(good.size(), 4u);
  EXPECT_EQ(first_line(good), std::pair(true, std::size_t{4}));
  const std::pair<bool, std::size_t> refused{false, 1};
  std::vector<EventRecord> bad = good;
  bad.pop_back();
  EXPECT_EQ(first_line(bad), refused) << "a record of text is missing";
  bad = good;
  bad[0].app.texts = 255;
  EXPECT_EQ(first_line(bad), refused);
  bad = good;
  std::swap(bad[1], bad[2]);
  EXPECT_EQ(first_line(bad), refused) << "their order";
  bad = good;
  change(bad[1], [](EventText& text) { text.bytes = 100; });
  EXPECT_EQ(first_line(bad), refused) << "a hole";
  bad = good;
  change(bad[3], [](EventText& text) { text.bytes = 0; });
  EXPECT_EQ(first_line(bad), refused);
  bad = good;
  change(bad[3], [](EventText& text) { text.bytes = 255; });
  EXPECT_EQ(first_line(bad), refused) << "more than a record holds";
  bad = good;
  change(bad[3], [](EventText& text) { --text.bytes; });
  EXPECT_EQ(first_line(bad), refused) << "a field that ends behind the text";
  bad = good;
  change(bad[1], [](EventText& text) { text.front[0] = std::byte{200}; });
  EXPECT_EQ(first_line(bad), refused) << "no such field";
  bad.erase(bad.begin());
  EXPECT_EQ(first_line(bad), refused) << "text of nothing";
}

TEST(EventText, RecordsOfALineThatGoesOnElsewhereAreNotWhole) {
  EventTextWriter writer;
  writer.put(EventField::kHttpUrl, letters(300), 300);
  std::vector<EventRecord> records(2);
  for (int i = 0; i < 2; ++i) {
    const auto line = line_of(writer.bytes());
    records.insert(records.end(), line.begin(), line.end());
  }
  ASSERT_EQ(records.size(), 10u);
  const std::vector<std::uint32_t> whole{0, 1, 2, 2, 2, 2, 6, 6, 6, 6, 10};
  for (std::size_t i = 0; i < whole.size(); ++i) {
    EXPECT_EQ(whole_lines(std::span(records).first(i)), whole[i]) << i;
  }
}

}  // namespace
}  // namespace millrace
