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

/// Bytes and messages. The codecs of this folder alone see Cap'n Proto.

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

}  // namespace millrace::wire
