// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <capnp/message.h>
#include <capnp/serialize.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "shared/base/error.hpp"

/// Helpers of the codecs in this folder: the only place, with them, that sees Cap'n Proto.

namespace millrace::wire {

/// Bytes of a finished message.
inline std::vector<std::byte> message_bytes(capnp::MessageBuilder& message) {
  const kj::Array<capnp::word> words = capnp::messageToFlatArray(message);
  const kj::ArrayPtr<const kj::byte> bytes = words.asBytes();
  std::vector<std::byte> out(bytes.size());
  std::memcpy(out.data(), bytes.begin(), bytes.size());
  return out;
}

/// Calls `read(Root::Reader)` over `bytes`, which may hold anything: lists that overlap are read at
/// most once over (traversal limit), nesting is at most 16 deep. Throws Error "<what>: ..." for
/// bytes that are no message.
template <typename Root, typename Read>
auto read_message(std::span<const std::byte> bytes, const char* what, Read&& read) {
  const std::size_t word_count = bytes.size() / sizeof(capnp::word);
  std::vector<capnp::word> words(word_count + 1);
  if (!bytes.empty()) std::memcpy(words.data(), bytes.data(), word_count * sizeof(capnp::word));
  try {
    capnp::ReaderOptions limits;
    limits.traversalLimitInWords = word_count + 64;
    limits.nestingLimit = 16;
    capnp::FlatArrayMessageReader reader(kj::arrayPtr(words.data(), word_count), limits);
    return read(reader.getRoot<Root>());
  } catch (const kj::Exception& error) {
    throw Error(std::string(what) + ": not readable: " + error.getDescription().cStr());
  }
}

inline std::string text(capnp::Text::Reader reader) { return {reader.cStr(), reader.size()}; }

/// Enumerators of the schema and of the C++ side have the same numbers; `last` is the highest
/// known.
template <typename To, typename From>
To enumeration(From value, To last, const char* what) {
  const auto number = static_cast<std::uint32_t>(value);
  if (number > static_cast<std::uint32_t>(last)) {
    throw Error(std::string(what) + " " + std::to_string(number) + " is unknown");
  }
  return static_cast<To>(number);
}

/// Fills `out` from a list by `read(element)`; more than `limit` elements are refused.
template <typename T, typename List, typename Read>
void read_list(std::vector<T>& out, List list, std::size_t limit, const char* what, Read&& read) {
  if (list.size() > limit) {
    throw Error(std::to_string(list.size()) + " " + what + ", at most " + std::to_string(limit));
  }
  out.reserve(list.size());
  for (auto element : list) out.push_back(read(element));
}

template <typename T>
unsigned size_of(const std::vector<T>& items) {
  return static_cast<unsigned>(items.size());
}

/// Calls `write(item, builder)` for each of `from`; `list` was made with their number.
template <typename From, typename List, typename Write>
void write_list(const std::vector<From>& from, List list, Write&& write) {
  for (std::size_t i = 0; i < from.size(); ++i) write(from[i], list[static_cast<unsigned>(i)]);
}

inline void write_texts(const std::vector<std::string>& from,
                        capnp::List<capnp::Text>::Builder list) {
  for (unsigned i = 0; i < from.size(); ++i) list.set(i, from[i]);
}

}  // namespace millrace::wire
