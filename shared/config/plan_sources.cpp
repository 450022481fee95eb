// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/config/plan_sources.hpp"

#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <span>

#include "shared/base/fnv.hpp"

namespace millrace {
namespace {

constexpr std::size_t kHashDigits = 16;

std::uint64_t add(std::uint64_t hash, std::span<const char> bytes) {
  for (const char byte : bytes) hash = fnv1a_add(hash, static_cast<std::uint8_t>(byte));
  return hash;
}

std::string text_of(std::uint64_t hash) {
  std::array<char, kHashDigits + 1> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(hash));
  return digits.data();
}

}  // namespace

std::string hash_of_file(const std::string& path) {
  std::error_code error;
  std::ifstream file(path, std::ios::binary);
  if (!file || !std::filesystem::is_regular_file(path, error)) return std::string(kNoSuchFile);
  std::uint64_t hash = kFnvBasis;
  std::vector<char> piece(std::size_t{1} << 16);
  while (file.read(piece.data(), static_cast<std::streamsize>(piece.size())) ||
         file.gcount() != 0) {
    hash = add(hash, std::span(piece).first(static_cast<std::size_t>(file.gcount())));
  }
  return text_of(hash);
}

std::string source_of(const std::string& path) { return hash_of_file(path) + " " + path; }

std::string path_of_source(const std::string& source) {
  return source.size() > kHashDigits ? source.substr(kHashDigits + 1) : "";
}

std::string hash_of_source(const std::string& source) { return source.substr(0, kHashDigits); }

std::string hash_of_sources(const std::vector<std::string>& sources) {
  if (sources.empty()) return "";
  std::uint64_t hash = kFnvBasis;
  for (const std::string& source : sources) {
    hash = add(hash, {source.c_str(), source.size() + 1});  // its end belongs to it
  }
  return text_of(hash);
}

}  // namespace millrace
