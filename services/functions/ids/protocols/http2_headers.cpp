// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/http2_headers.hpp"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

namespace millrace {
namespace {

constexpr std::size_t kEntryBytes = 32;           // of RFC 7541 4.1
constexpr std::size_t kInflaterBytes = 4u << 10;  // of its own, and of the smallest table

/// Those at the begin of a block (RFC 7541 6.3).
std::vector<std::uint32_t> table_sizes_of(std::string_view block) {
  constexpr std::uint8_t kMark = 0xe0, kIsSize = 0x20, kPrefix = 0x1f, kMore = 0x80;
  constexpr unsigned kBits = 7, kShiftMax = 28;
  std::vector<std::uint32_t> found;
  std::size_t at = 0;
  while (at < block.size() && (static_cast<std::uint8_t>(block[at]) & kMark) == kIsSize) {
    std::uint64_t size = static_cast<std::uint8_t>(block[at++]) & kPrefix;
    for (unsigned shift = 0; size >= kPrefix && at < block.size() && shift <= kShiftMax;
         shift += kBits) {
      const auto byte = static_cast<std::uint8_t>(block[at++]);
      size += std::uint64_t{byte & (kMore - 1u)} << shift;
      if ((byte & kMore) == 0) break;
    }
    constexpr std::uint64_t kMax = std::numeric_limits<std::uint32_t>::max();
    found.push_back(static_cast<std::uint32_t>(std::min(size, kMax)));
  }
  return found;
}

std::string text_of(const std::uint8_t* bytes, std::size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

}  // namespace

std::optional<std::string> Http2HeaderList::find(std::string_view name,
                                                 std::string_view between) const {
  std::optional<std::string> found;
  for (const Http2Header& header : headers) {
    if (header.name != name) continue;
    if (found) {
      found->append(between).append(header.value);
    } else {
      found = header.value;
    }
  }
  return found;
}

void Http2HeaderDecoder::Deleter::operator()(nghttp2_hd_inflater* inflater) const noexcept {
  nghttp2_hd_inflate_del(inflater);
}

Http2HeaderDecoder::Http2HeaderDecoder() {
  nghttp2_hd_inflater* made = nullptr;
  if (nghttp2_hd_inflate_new(&made) != 0) throw std::bad_alloc();
  inflater_.reset(made);
  nghttp2_hd_inflate_change_table_size(made, kTableBytesMax);
}

std::optional<Http2HeaderList> Http2HeaderDecoder::decode(std::string_view block,
                                                          std::size_t bytes_max) {
  Http2HeaderList list;
  list.table_sizes = table_sizes_of(block);
  const auto* next = reinterpret_cast<const std::uint8_t*>(block.data());
  std::size_t left = block.size(), bytes = 0;
  for (;;) {
    nghttp2_nv header{};
    int flags = 0;
    const ssize_t taken =
        nghttp2_hd_inflate_hd2(inflater_.get(), &header, &flags, next, left, /*in_final=*/1);
    if (taken == NGHTTP2_ERR_NOMEM) throw std::bad_alloc();
    if (taken < 0) return std::nullopt;
    next += taken;
    left -= static_cast<std::size_t>(taken);
    if ((flags & NGHTTP2_HD_INFLATE_EMIT) != 0) {
      bytes += header.namelen + header.valuelen + kEntryBytes;
      if (bytes > bytes_max) return std::nullopt;
      list.headers.push_back(
          {text_of(header.name, header.namelen), text_of(header.value, header.valuelen)});
    }
    if ((flags & NGHTTP2_HD_INFLATE_FINAL) != 0) break;
    if ((flags & NGHTTP2_HD_INFLATE_EMIT) == 0 && left == 0) return std::nullopt;
  }
  nghttp2_hd_inflate_end_headers(inflater_.get());
  return list;
}

/// The library's entries have some more than RFC 7541 counts.
std::size_t Http2HeaderDecoder::held() const noexcept {
  return kInflaterBytes + 3 * nghttp2_hd_inflate_get_dynamic_table_size(inflater_.get());
}

}  // namespace millrace
