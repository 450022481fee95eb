// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "services/functions/ids/protocols/text_pool.hpp"
#include "services/functions/ids/protocols/transaction.hpp"

namespace millrace {

/// Transactions that are over, for those that begin: to allocate and free one with its values costs
/// as much as to parse a small request. One thread. It outlives what it has given out.
class TransactionPool {
 public:
  /// Each keeps 160 KiB at most (Transaction::renew), bodies apart: 20 MiB in all.
  static constexpr std::size_t kTransactionsMax = 128;

  std::unique_ptr<Transaction> take(AppProtocol protocol, std::uint64_t number);
  /// Frees it where the pool is full. Null: nothing.
  void give(std::unique_ptr<Transaction> over);

 private:
  TextPool texts_;
  std::vector<std::unique_ptr<Transaction>> free_;
};

/// Of a parser that has a pool, or none (null).
std::unique_ptr<Transaction> take_transaction(TransactionPool* pool, AppProtocol protocol,
                                              std::uint64_t number);
void give_transaction(TransactionPool* pool, std::unique_ptr<Transaction> over);

}  // namespace millrace
