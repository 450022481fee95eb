// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "io-worker/ports/pcapng_format.hpp"
#include "tests/unit/io-worker/ports/capture_files.hpp"

/// Blocks of pcapng files, byte by byte.

namespace millrace::test {

inline std::string padded(std::string bytes) {
  bytes.resize((bytes.size() + 3) / 4 * 4);
  return bytes;
}

inline std::string block(std::uint32_t type, const std::string& body, bool big = false) {
  const auto total = static_cast<std::uint32_t>(body.size() + 12);
  return word32(type, big) + word32(total, big) + body + word32(total, big);
}

inline std::string section(bool big = false) {
  return block(kPcapngSectionHeader,
               word32(0x1a2b3c4d, big) + word16(1, big) + word16(0, big) + std::string(8, '\xff'),
               big);
}

inline std::string interface(std::uint32_t link_type = 1, const std::string& options = "",
                             bool big = false, std::uint32_t snap = 0) {
  return block(1, word16(link_type, big) + word16(0, big) + word32(snap, big) + options, big);
}

inline std::string enhanced(const std::string& bytes, std::uint32_t number = 0,
                            std::uint64_t ticks = 0, bool big = false) {
  const auto length = static_cast<std::uint32_t>(bytes.size());
  return block(6,
               word32(number, big) + word32(static_cast<std::uint32_t>(ticks >> 32), big) +
                   word32(static_cast<std::uint32_t>(ticks), big) + word32(length, big) +
                   word32(length + 100, big) + padded(bytes),
               big);
}

inline std::string option(std::uint32_t code, const std::string& value, bool big = false) {
  return word16(code, big) + word16(static_cast<std::uint32_t>(value.size()), big) + padded(value);
}

}  // namespace millrace::test
