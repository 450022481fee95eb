// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

struct nghttp2_hd_inflater;

/// Blocks of headers of HTTP/2 (HPACK, RFC 7541), by libnghttp2.

namespace millrace {

struct Http2Header {
  std::string name, value;
};
/// What one block brings.
struct Http2HeaderList {
  std::vector<Http2Header> headers;
  std::vector<std::uint32_t> table_sizes;  ///< that it sets

  /// Of the headers with that name: the values, with `between` in between. Nothing: there is none.
  std::optional<std::string> find(std::string_view name, std::string_view between = ", ") const;
};

/// One direction of a connection: each of its blocks, in their order. One thread.
class Http2HeaderDecoder {
 public:
  /// What a sender may remember, whatever its receiver allows it. One that goes beyond is not read.
  static constexpr std::size_t kTableBytesMax = 64u << 10;

  /// Throws std::bad_alloc.
  Http2HeaderDecoder();
  /// A whole block. Nothing: it is no block, sets a table beyond kTableBytesMax, or has more than
  /// `bytes_max` of headers (as RFC 7541 4.1 counts them). decode() is not called again then.
  std::optional<Http2HeaderList> decode(std::string_view block, std::size_t bytes_max);
  /// Bytes of memory, about.
  std::size_t held() const noexcept;

 private:
  struct Deleter {
    void operator()(nghttp2_hd_inflater* inflater) const noexcept;
  };
  std::unique_ptr<nghttp2_hd_inflater, Deleter> inflater_;
};

}  // namespace millrace
