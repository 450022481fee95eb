// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

/// Captures made byte by byte, so that tests do not lean on the writer under test.

namespace millrace::test {

inline std::string word32(std::uint32_t value, bool big = false) {
  std::string text(4, 0);
  for (int i = 0; i < 4; ++i) text[big ? 3 - i : i] = static_cast<char>(value >> (8 * i));
  return text;
}
inline std::string word16(std::uint32_t value, bool big = false) {
  std::string text(2, 0);
  for (int i = 0; i < 2; ++i) text[big ? 1 - i : i] = static_cast<char>(value >> (8 * i));
  return text;
}

struct PcapKind {
  bool big = false;
  bool nanoseconds = false;
  std::uint32_t link_type = 1;
  std::uint32_t snap_length = 65535;
  std::uint32_t minor = 4;
};

inline std::string pcap_header(PcapKind kind = {}) {
  return word32(kind.nanoseconds ? 0xa1b23c4d : 0xa1b2c3d4, kind.big) + word16(2, kind.big) +
         word16(kind.minor, kind.big) + word32(0, kind.big) + word32(0, kind.big) +
         word32(kind.snap_length, kind.big) + word32(kind.link_type, kind.big);
}

inline std::string pcap_record(const std::string& bytes, PcapKind kind = {},
                               std::uint32_t wire_length = 0, std::uint32_t seconds = 1,
                               std::uint32_t fraction = 2) {
  const auto length = static_cast<std::uint32_t>(bytes.size());
  return word32(seconds, kind.big) + word32(fraction, kind.big) + word32(length, kind.big) +
         word32(wire_length == 0 ? length : wire_length, kind.big) + bytes;
}

/// A frame that tells which one it is: `number` in all of its bytes but the addresses.
inline std::string frame_of(std::uint32_t number, std::size_t length) {
  std::string bytes(length, static_cast<char>(number * 37 + 11));
  for (std::size_t i = 0; i < 4 && i < length; ++i) bytes[i] = static_cast<char>(number >> 8 * i);
  return bytes;
}

/// A pcap file of `count` frames of length 60, 61, 62, ...
inline std::string pcap_of(std::uint32_t count) {
  std::string file = pcap_header();
  for (std::uint32_t i = 0; i < count; ++i) file += pcap_record(frame_of(i, 60 + i % 900));
  return file;
}

/// A folder that goes away with its owner.
class TestFolder {
 public:
  TestFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "ports-test-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~TestFolder() { std::filesystem::remove_all(path_); }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  std::string path(const std::string& name) const { return path_ + "/" + name; }
  /// Writes a file and returns its path.
  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }
  static std::string read(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }

 private:
  std::string path_;
};

/// Runs `work`; the text of the Error that it throws, or "" when it throws none.
template <typename Work>
std::string error_of(Work&& work) {
  try {
    work();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

}  // namespace millrace::test
