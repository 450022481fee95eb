// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/transaction_pool.hpp"

#include <utility>

namespace millrace {

std::unique_ptr<Transaction> TransactionPool::take(AppProtocol protocol, std::uint64_t number) {
  if (free_.empty()) return std::make_unique<Transaction>(protocol, number, &texts_);
  std::unique_ptr<Transaction> taken = std::move(free_.back());
  free_.pop_back();
  taken->renew(protocol, number);
  return taken;
}

void TransactionPool::give(std::unique_ptr<Transaction> over) {
  if (over == nullptr) return;
  over->recycle();
  if (free_.size() < kTransactionsMax) free_.push_back(std::move(over));
}

std::unique_ptr<Transaction> take_transaction(TransactionPool* pool, AppProtocol protocol,
                                              std::uint64_t number) {
  if (pool != nullptr) return pool->take(protocol, number);
  return std::make_unique<Transaction>(protocol, number);
}

void give_transaction(TransactionPool* pool, std::unique_ptr<Transaction> over) {
  if (pool != nullptr) pool->give(std::move(over));
}

}  // namespace millrace
