// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// Content encodings of a body, undone.

namespace millrace {

/// One body. One thread. Throws std::bad_alloc.
class BodyInflater {
 public:
  /// By the header `content-encoding`: gzip and deflate, the last `layers_max` of them. With others
  /// the body is left as it is from there on.
  BodyInflater(std::string_view content_encoding, std::uint32_t layers_max);

  /// Nothing is to be undone.
  bool is_plain() const noexcept { return layers_.empty(); }
  /// Gives what the bytes inflate to to `sink`, in pieces; false of it: no more. What cannot be
  /// inflated is given as it is. False: `sink` has said so.
  using Sink = std::function<bool(std::string_view)>;
  bool read(std::string_view bytes, const Sink& sink) { return read(0, bytes, sink); }
  /// Bytes of memory, about.
  std::size_t held() const noexcept { return layers_.size() * kLayerBytes; }

 private:
  static constexpr std::size_t kLayerBytes = 64u << 10;
  struct End {
    void operator()(z_stream* stream) const noexcept {
      inflateEnd(stream);
      std::default_delete<z_stream>{}(stream);
    }
  };
  struct Layer {
    bool is_gzip;
    bool is_as_it_is = false;
    std::string begin;  ///< of deflate, until there are two bytes
    std::unique_ptr<z_stream, End> stream;
  };
  bool read(std::size_t layer, std::string_view bytes, const Sink& sink);
  bool begin(Layer& layer, std::string_view& bytes);
  bool inflate_all(std::size_t layer, std::string_view bytes, const Sink& sink);

  std::vector<Layer> layers_;  ///< the outermost first
};

}  // namespace millrace
