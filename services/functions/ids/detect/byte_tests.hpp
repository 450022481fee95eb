// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "services/functions/ids/detect/buffer_matcher.hpp"
#include "services/functions/ids/detect/test_text.hpp"
#include "services/functions/ids/rules/rule_match.hpp"

/// Tests that read numbers, or are about lengths. Arithmetic is that of Suricata: of 64 bits, and
/// wraps around. `cursor`: where the match before has ended.

namespace millrace {

/// The number itself, or what its variable has.
std::int64_t value_of(const RuleNumber& number, const RuleVariables& variables) noexcept;

TestEnd run_byte_test(const ByteTest& test, const TestText& text, std::int64_t cursor,
                      const RuleVariables& variables) noexcept;
/// The cursor is at the target, which has to be a byte of the buffer. A target in front of the
/// buffer is its begin.
TestEnd run_byte_jump(const ByteJump& jump, const TestText& text, std::int64_t cursor,
                      const RuleVariables& variables) noexcept;
/// The cursor is behind the number.
TestEnd run_byte_extract(const ByteExtract& extract, const TestText& text, std::int64_t cursor,
                         RuleVariables& variables) noexcept;
/// Likewise. A division by 0 fails; shifts by 64 and more leave 0.
TestEnd run_byte_math(const ByteMath& math, const TestText& text, std::int64_t cursor,
                      RuleVariables& variables) noexcept;

/// Absolute: there is a byte at that place. Relative: there are so many bytes behind the cursor.
TestEnd run_is_data_at(const IsDataAt& test, const TestText& text, std::int64_t cursor,
                       const RuleVariables& variables) noexcept;
/// Bytes that are gone count.
TestEnd run_buffer_size(const BufferSize& size, const TestText& text, std::int64_t cursor) noexcept;

}  // namespace millrace
