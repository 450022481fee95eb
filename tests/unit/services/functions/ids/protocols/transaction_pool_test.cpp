// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/transaction_pool.hpp"

#include <gtest/gtest.h>

#include <string>

namespace millrace {
namespace {

/// Everything that one may leave behind.
void use(Transaction& transaction) {
  transaction.put(0, RuleBuffer::kHttpUri, std::string(100, 'u'));
  transaction.put(1, RuleBuffer::kHttpServer, "s");
  for (int i = 0; i < 100; ++i) transaction.put(0, RuleBuffer::kHttpRequestHeader, "header");
  transaction.append(1, RuleBuffer::kFileData, std::string(40'000, 'x'), 50'000);
  transaction.taken(0);
  transaction.complete(0);
  transaction.waiting.push_back({});
  transaction.matched[0].push_back(7);
  transaction.messages = {"a", "b"};
  transaction.body_bytes = {1, 2};
  transaction.is_logged = true;
}

void expect_new(Transaction& transaction) {
  for (std::uint8_t direction = 0; direction < 2; ++direction) {
    EXPECT_FALSE(transaction.is_complete(direction));
    EXPECT_EQ(transaction.body_bytes[direction], 0u);
    EXPECT_EQ(transaction.messages[direction], "");
    for (std::size_t i = 0; i < kRuleBufferCount; ++i) {
      EXPECT_TRUE(transaction.parts(direction, static_cast<RuleBuffer>(i)).empty());
      EXPECT_FALSE(transaction.has_news(direction, static_cast<RuleBuffer>(i)));
    }
  }
  EXPECT_TRUE(transaction.waiting.empty() && transaction.matched[0].empty());
  EXPECT_FALSE(transaction.is_logged);
}

TEST(TransactionPool, OneThatIsUsedAgainIsAsANewOne) {
  TransactionPool pool;
  const Transaction* before = nullptr;
  for (std::uint64_t number = 0; number < 4; ++number) {
    auto transaction = pool.take(number < 2 ? AppProtocol::kHttp : AppProtocol::kDns, number);
    EXPECT_TRUE(before == nullptr || before == transaction.get());
    before = transaction.get();
    EXPECT_EQ(transaction->number(), number);
    EXPECT_EQ(transaction->protocol(), number < 2 ? AppProtocol::kHttp : AppProtocol::kDns);
    expect_new(*transaction);
    use(*transaction);
    EXPECT_EQ(transaction->parts(0, RuleBuffer::kHttpUri)[0].bytes, std::string(100, 'u'));
    EXPECT_TRUE(transaction->parts(0, RuleBuffer::kHttpUri)[0].is_complete);
    const BufferPart& body = transaction->parts(1, RuleBuffer::kFileData)[0];
    EXPECT_EQ(body.bytes, std::string(40'000, 'x'));
    EXPECT_EQ(body.base, 0u);
    EXPECT_EQ(body.seen, 0u);
    pool.give(std::move(transaction));
  }
}

TEST(TransactionPool, IsBounded) {
  TransactionPool pool;
  pool.give(nullptr);
  std::vector<std::unique_ptr<Transaction>> taken;
  for (std::size_t i = 0; i < 2 * TransactionPool::kTransactionsMax; ++i) {
    taken.push_back(pool.take(AppProtocol::kHttp, i));
    taken.back()->put(0, RuleBuffer::kHttpUri, std::string(5'000, 'u'));
  }
  for (auto& transaction : taken) pool.give(std::move(transaction));
  for (std::size_t i = 0; i < 2 * TransactionPool::kTransactionsMax; ++i) {
    taken[i] = pool.take(AppProtocol::kDns, i);
    EXPECT_EQ(taken[i]->number(), i);
  }
}

}  // namespace
}  // namespace millrace
