// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/transaction.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>

namespace millrace {
namespace {

constexpr RuleBuffer kBody = RuleBuffer::kHttpRequestBody;

TEST(Transaction, PutMakesWholeValuesInTheirOrder) {
  Transaction transaction(AppProtocol::kDns, 3);
  transaction.put(0, RuleBuffer::kDnsQuery, "a.b");
  transaction.put(0, RuleBuffer::kDnsQuery, "");
  const auto& parts = transaction.parts(0, RuleBuffer::kDnsQuery);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].bytes, "a.b");
  EXPECT_TRUE(parts[0].is_complete && parts[1].is_complete);
  EXPECT_TRUE(transaction.parts(1, RuleBuffer::kDnsQuery).empty());
  EXPECT_EQ(transaction.number(), 3u);
}

TEST(Transaction, NewsLastUntilTheyAreTaken) {
  Transaction transaction(AppProtocol::kHttp, 0);
  EXPECT_FALSE(transaction.has_news(0, kBody));
  transaction.append(0, kBody, "abc", 10);
  EXPECT_TRUE(transaction.has_news(0, kBody));
  EXPECT_FALSE(transaction.has_news(1, kBody));
  transaction.taken(0);
  EXPECT_FALSE(transaction.has_news(0, kBody));
  EXPECT_EQ(transaction.parts(0, kBody)[0].seen, 3u);
  transaction.complete(0, kBody);
  EXPECT_TRUE(transaction.has_news(0, kBody));
  transaction.taken(0);
  transaction.complete(0, kBody);
  EXPECT_FALSE(transaction.has_news(0, kBody));
}

TEST(Transaction, CompleteTellsOfBuffersThatAreNotThere) {
  Transaction transaction(AppProtocol::kHttp, 0);
  transaction.put(0, RuleBuffer::kHttpUri, "/");
  transaction.taken(0);
  transaction.complete(0);
  EXPECT_TRUE(transaction.is_complete(0));
  EXPECT_FALSE(transaction.is_complete(1));
  EXPECT_FALSE(transaction.has_news(0, RuleBuffer::kHttpUri));
  EXPECT_TRUE(transaction.has_news(0, RuleBuffer::kHttpReferer));
  transaction.taken(0);
  transaction.complete(0);
  EXPECT_FALSE(transaction.has_news(0, RuleBuffer::kHttpReferer));
}

TEST(Transaction, AppendBehindACompleteValueBeginsAnother) {
  Transaction transaction(AppProtocol::kHttp, 0);
  transaction.append(0, RuleBuffer::kFileData, "one", 10);
  transaction.complete(0, RuleBuffer::kFileData);
  transaction.append(0, RuleBuffer::kFileData, "two", 10);
  const auto& parts = transaction.parts(0, RuleBuffer::kFileData);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[1].bytes, "two");
  EXPECT_FALSE(parts[1].is_complete);
}

TEST(Transaction, TheBodyOfAResponseIsItsFile) {
  Transaction transaction(AppProtocol::kHttp, 0);
  const auto bytes_of = [&](std::uint8_t direction, RuleBuffer buffer) {
    const auto& parts = transaction.parts(direction, buffer);
    return parts.empty() ? std::string("(none)") : parts[0].bytes;
  };
  transaction.append(1, RuleBuffer::kFileData, "abc", 10);
  EXPECT_EQ(bytes_of(1, RuleBuffer::kHttpResponseBody), "abc");
  EXPECT_TRUE(transaction.has_news(1, RuleBuffer::kHttpResponseBody));
  transaction.append(0, RuleBuffer::kFileData, "xyz", 10);
  EXPECT_EQ(bytes_of(0, RuleBuffer::kHttpRequestBody), "(none)");
  EXPECT_EQ(bytes_of(0, RuleBuffer::kHttpResponseBody), "(none)");
  transaction.taken(1);
  transaction.complete(1, RuleBuffer::kFileData);
  EXPECT_TRUE(transaction.parts(1, RuleBuffer::kHttpResponseBody)[0].is_complete);
}

TEST(Transaction, EachBufferWithNewsIsVisitedInOrder) {
  Transaction transaction(AppProtocol::kHttp, 0);
  transaction.put(0, RuleBuffer::kHttpCookie, "a");
  transaction.put(0, RuleBuffer::kHttpUri, "/");
  transaction.put(1, RuleBuffer::kHttpServer, "b");
  std::vector<RuleBuffer> visited;
  transaction.each_news(0, [&](RuleBuffer buffer) { visited.push_back(buffer); });
  EXPECT_EQ(visited, (std::vector{RuleBuffer::kHttpUri, RuleBuffer::kHttpCookie}));
}

TEST(Transaction, ManyCompleteValuesAreForgottenWhenTheyWereSeen) {
  Transaction transaction(AppProtocol::kHttp, 0);
  for (int i = 0; i < 1000; ++i) {
    transaction.append(0, RuleBuffer::kFileData, "x", 10);
    transaction.complete(0, RuleBuffer::kFileData);
    transaction.taken(0);
  }
  EXPECT_LE(transaction.parts(0, RuleBuffer::kFileData).size(), 20u);
}

/// The oracle keeps the whole body and the number of its bytes that were seen.
TEST(Transaction, AppendKeepsTheLastBytes) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    Transaction transaction(AppProtocol::kHttp, 0);
    const std::size_t limit = 1 + random() % 40;
    std::string whole;
    std::size_t seen = 0;
    for (int i = 0; i < 20; ++i) {
      std::string piece(random() % 30, ' ');
      for (char& c : piece) c = static_cast<char>('a' + random() % 26);
      whole += piece;
      transaction.append(1, kBody, piece, limit);
      const BufferPart& part = transaction.parts(1, kBody)[0];
      ASSERT_EQ(part.base + part.bytes.size(), whole.size());
      ASSERT_TRUE(whole.ends_with(part.bytes));
      ASSERT_LE(part.bytes.size(), limit);
      ASSERT_GE(part.bytes.size(), std::min(limit / 2, whole.size()));
      ASSERT_TRUE(whole.size() - seen > limit || part.base <= seen);
      ASSERT_EQ(part.seen, std::max<std::uint64_t>(seen, part.base) - part.base);
      if (random() % 2 == 0) {
        transaction.taken(1);
        seen = whole.size();
      }
    }
  }
}

/// Beside a sum over all values. Room that it keeps of others is bounded.
TEST(Transaction, WhatItHoldsIsWhatItsValuesTake) {
  constexpr std::size_t kRooms = 64u << 10;
  std::mt19937 random(8);
  TextPool pool;
  Transaction transaction(AppProtocol::kHttp, 0, &pool);
  for (int round = 0; round < 20'000; ++round) {
    const auto direction = static_cast<std::uint8_t>(random() % 2);
    const std::string text(random() % (random() % 20 == 0 ? 3000 : 40), 'x');
    const std::array buffers = {RuleBuffer::kHttpUri, RuleBuffer::kHttpRequestBody,
                                RuleBuffer::kFileData, RuleBuffer::kHttpResponseBody};
    const RuleBuffer buffer = buffers[random() % buffers.size()];
    switch (random() % 8) {
      case 0:
        transaction.taken(direction);
        break;
      case 1:
        transaction.complete(direction, buffer);
        break;
      case 2:
        if (random() % 20 == 0) transaction.forget_bodies(direction);
        break;
      case 3:
        if (random() % 200 != 0) break;
        transaction.recycle();
        transaction.renew(AppProtocol::kHttp, 0);
        break;
      case 4:
        transaction.put(direction, buffer, text);
        break;
      default:
        transaction.append(direction, buffer, text, 10'000);
    }
    std::size_t sum = sizeof transaction;
    for (std::size_t place = 0; place < kRuleBufferCount; ++place) {
      for (std::uint8_t of = 0; of < 2; ++of) {
        const auto one = static_cast<RuleBuffer>(place);
        if (of == 1 && one == RuleBuffer::kHttpResponseBody) continue;  // kFileData
        for (const BufferPart& part : transaction.parts(of, one)) {
          sum += sizeof part + part.bytes.capacity();
        }
      }
    }
    ASSERT_GE(transaction.held(), sum);
    ASSERT_LE(transaction.held(), sum + kRooms);
  }
}

TEST(Transaction, ProtocolsHaveTheNamesOfEve) {
  EXPECT_EQ(name_of(AppProtocol::kUnknown), "unknown");
  EXPECT_EQ(name_of(AppProtocol::kNone), "failed");
  EXPECT_EQ(name_of(AppProtocol::kHttp), "http");
  EXPECT_EQ(name_of(AppProtocol::kSmb), "smb");
}

}  // namespace
}  // namespace millrace
