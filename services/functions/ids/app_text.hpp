// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "services/functions/ids/protocols/transaction.hpp"
#include "shared/layout/event_text.hpp"

/// Transactions as texts of events. Each adds what there is; a name that is a field of EVE's is cut
/// behind kAppValueBytesMax bytes. Throws std::bad_alloc.

namespace millrace {

inline constexpr std::size_t kAppValueBytesMax = 512;

void put_http(Transaction& transaction, EventTextWriter& text);
void put_tls(Transaction& transaction, EventTextWriter& text);
void put_ssh(Transaction& transaction, EventTextWriter& text);
void put_smtp(Transaction& transaction, EventTextWriter& text);
/// `message`: a whole one, or empty. `question`: of a query, which of its questions; of an answer,
/// the first one and all answers. False: there is no such question.
bool put_dns(std::span<const std::byte> message, std::size_t question, EventTextWriter& text);

}  // namespace millrace
