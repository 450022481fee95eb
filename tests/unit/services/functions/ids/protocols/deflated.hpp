// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace millrace {

/// Raw deflate (RFC 1951) in one block of fixed codes, bit by bit.
class DeflatedText {
 public:
  static constexpr std::size_t kRunBytes = 258;  ///< that one code repeats at most

  /// 1 + `runs` * kRunBytes times the letter A.
  static std::string letters(std::size_t runs) {
    DeflatedText made;
    made.put(0b1, 1);         // the last block
    made.put(0b10, 2);        // with fixed codes, the low bit first
    made.put(0x30 + 'A', 8);  // a literal
    for (std::size_t run = 0; run < runs; ++run) {
      made.put(0b11000101, 8);  // length 258
      made.put(0, 5);           // from the byte before
    }
    made.put(0, 7);  // the end of the block
    while (made.used_ != 0) made.put(0, 1);
    return made.bytes_;
  }

 private:
  /// Codes of Huffman have their highest bit first.
  void put(unsigned code, unsigned bits) {
    while (bits-- != 0) put_bit(code >> bits & 1);
  }
  void put_bit(unsigned bit) {
    if (used_ == 0) bytes_ += '\0';
    bytes_.back() = static_cast<char>(static_cast<unsigned char>(bytes_.back()) | bit << used_);
    used_ = (used_ + 1) % 8;
  }

  std::string bytes_;
  unsigned used_ = 0;  ///< bits of the last byte
};

}  // namespace millrace
