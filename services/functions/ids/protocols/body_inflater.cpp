// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/protocols/body_inflater.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "shared/base/ascii.hpp"

namespace millrace {
namespace {

constexpr int kWindowBits = 15, kGzip = 16, kRaw = -15;
constexpr std::size_t kPieceBytes = 16u << 10;
constexpr std::uint8_t kGzipMark = 0x1f;

std::string_view without_blanks(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

/// RFC 1950 2.2. Some servers send deflate without that header.
bool is_zlib(std::string_view begin) {
  constexpr unsigned kMethodMask = 0x0f, kDeflate = 8, kCheck = 31, kByte = 256;
  const unsigned first = static_cast<std::uint8_t>(begin[0]);
  const unsigned second = static_cast<std::uint8_t>(begin[1]);
  return (first & kMethodMask) == kDeflate && (first * kByte + second) % kCheck == 0;
}

}  // namespace

BodyInflater::BodyInflater(std::string_view content_encoding, std::uint32_t layers_max) {
  // What was done last stands last.
  while (!content_encoding.empty() && layers_.size() < layers_max) {
    const std::size_t comma = content_encoding.rfind(',');
    const std::size_t begin = comma == std::string_view::npos ? 0 : comma + 1;
    const std::string name = in_lower_case(without_blanks(content_encoding.substr(begin)));
    content_encoding = content_encoding.substr(0, comma == std::string_view::npos ? 0 : comma);
    const bool is_gzip = name == "gzip" || name == "x-gzip";
    if (!is_gzip && name != "deflate") break;
    layers_.push_back({.is_gzip = is_gzip, .begin = {}, .stream = {}});
  }
}

/// False: more bytes are needed. Throws std::bad_alloc.
bool BodyInflater::begin(Layer& layer, std::string_view& bytes) {
  constexpr std::size_t kNeeded = 2;
  const std::size_t taken = std::min(kNeeded - layer.begin.size(), bytes.size());
  layer.begin.append(bytes.substr(0, taken));
  bytes.remove_prefix(taken);
  if (layer.begin.size() < kNeeded) return false;
  if (layer.is_gzip && static_cast<std::uint8_t>(layer.begin[0]) != kGzipMark) {
    layer.is_as_it_is = true;  // it says gzip and is plain
    return true;
  }
  auto stream = std::make_unique<z_stream>();
  const int bits = layer.is_gzip ? kWindowBits + kGzip : is_zlib(layer.begin) ? kWindowBits : kRaw;
  if (inflateInit2(stream.get(), bits) != Z_OK) throw std::bad_alloc();
  layer.stream.reset(stream.release());
  return true;
}

bool BodyInflater::read(std::size_t number, std::string_view bytes, const Sink& sink) {
  if (bytes.empty()) return true;
  if (number == layers_.size()) return sink(bytes);
  Layer& layer = layers_[number];
  if (layer.stream == nullptr && !layer.is_as_it_is) {
    if (!begin(layer, bytes)) return true;
    const std::string first = std::exchange(layer.begin, {});
    const bool goes_on =
        layer.is_as_it_is ? read(number + 1, first, sink) : inflate_all(number, first, sink);
    if (!goes_on) return false;
  }
  if (layer.is_as_it_is) return read(number + 1, bytes, sink);
  return inflate_all(number, bytes, sink);
}

bool BodyInflater::inflate_all(std::size_t number, std::string_view bytes, const Sink& sink) {
  Layer& layer = layers_[number];
  z_stream& stream = *layer.stream;
  std::array<char, kPieceBytes> piece;
  for (;;) {
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(std::min<std::size_t>(bytes.size(), UINT32_MAX));
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = piece.size();
    const uInt given = stream.avail_in;
    const int state = inflate(&stream, Z_NO_FLUSH);
    bytes.remove_prefix(given - stream.avail_in);
    const std::string_view made(piece.data(), piece.size() - stream.avail_out);
    if (!read(number + 1, made, sink)) return false;
    if (state == Z_MEM_ERROR) throw std::bad_alloc();
    const bool is_end = state == Z_STREAM_END;
    if (is_end && layer.is_gzip) {
      inflateReset(&stream);  // there may be several members
      if (bytes.empty()) return true;
    } else if (is_end || (state != Z_OK && state != Z_BUF_ERROR)) {
      layer.is_as_it_is = true;
      return read(number + 1, bytes, sink);
    } else if ((bytes.empty() && stream.avail_out != 0) ||
               (made.empty() && given == stream.avail_in)) {
      return true;
    }
  }
}

}  // namespace millrace
