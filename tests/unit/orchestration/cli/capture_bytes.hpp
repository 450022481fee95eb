// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

namespace millrace {

/// A pcap file written byte by byte, without libpcap.
class CaptureBytes {
 public:
  explicit CaptureBytes(std::uint32_t magic = 0xa1b2c3d4, std::uint32_t link_type = 1) {
    put(magic);
    put(2 | 4 << 16);
    put(0);
    put(0);
    put(262'144);
    put(link_type);
  }
  /// `fraction` in what the magic says.
  void add(const std::string& packet, std::uint32_t wire_length, std::uint32_t seconds = 1,
           std::uint32_t fraction = 0) {
    put(seconds);
    put(fraction);
    put(static_cast<std::uint32_t>(packet.size()));
    put(wire_length);
    bytes_ += packet;
  }
  void cut(std::size_t bytes) { bytes_.resize(bytes_.size() - bytes); }
  void save(const std::string& path) const { std::ofstream(path, std::ios::binary) << bytes_; }

 private:
  void put(std::uint32_t word) { bytes_.append(reinterpret_cast<const char*>(&word), sizeof word); }
  std::string bytes_;
};

}  // namespace millrace
