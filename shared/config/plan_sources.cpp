// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/config/plan_sources.hpp"

#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>

namespace millrace {
namespace {

constexpr std::size_t kHashDigits = 16;

/// FNV-1a over bytes.
class Hash {
 public:
  void add(const char* bytes, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      state_ = (state_ ^ static_cast<std::uint8_t>(bytes[i])) * 0x100000001b3;
    }
  }
  std::string text() const {
    std::array<char, kHashDigits + 1> digits{};
    std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(state_));
    return digits.data();
  }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325;
};

}  // namespace

std::string hash_of_file(const std::string& path) {
  std::error_code error;
  std::ifstream file(path, std::ios::binary);
  if (!file || !std::filesystem::is_regular_file(path, error)) return std::string(kNoSuchFile);
  Hash hash;
  std::vector<char> piece(std::size_t{1} << 16);
  while (file.read(piece.data(), static_cast<std::streamsize>(piece.size())) ||
         file.gcount() != 0) {
    hash.add(piece.data(), static_cast<std::size_t>(file.gcount()));
  }
  return hash.text();
}

std::string source_of(const std::string& path) { return hash_of_file(path) + " " + path; }

std::string path_of_source(const std::string& source) {
  return source.size() > kHashDigits ? source.substr(kHashDigits + 1) : "";
}

std::string hash_of_source(const std::string& source) { return source.substr(0, kHashDigits); }

std::string hash_of_sources(const std::vector<std::string>& sources) {
  Hash hash;
  for (const std::string& source : sources) hash.add(source.c_str(), source.size() + 1);
  return hash.text();
}

}  // namespace millrace
