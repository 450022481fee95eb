// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

/// Finds the bytes of one `content`.

namespace millrace {

inline constexpr std::size_t kNotFound = SIZE_MAX;

struct Needle {
  std::string_view bytes;  ///< 1..; with `nocase` in lower case
  bool nocase = false;     ///< of ASCII letters
};

/// Place of the first one in `text` at `from` or behind. kNotFound: there is none.
std::size_t find_content(std::span<const std::byte> text, std::size_t from,
                         const Needle& needle) noexcept;

/// The bytes at `at` are the needle's. They have to be there.
bool is_content_at(std::span<const std::byte> text, std::size_t at, const Needle& needle) noexcept;

}  // namespace millrace
