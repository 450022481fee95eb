// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/planner/plan_sources.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <span>

#include "shared/base/error.hpp"
#include "shared/base/fnv.hpp"
#include "shared/base/whole_file.hpp"

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
  std::uint64_t hash = kFnvBasis;
  std::vector<char> piece(std::size_t{1} << 16);
  try {
    const UniqueFd file = open_regular_file(path);  // a pipe would hold the supervisor up
    for (;;) {
      const ssize_t got = ::read(file.get(), piece.data(), piece.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return std::string(kNoSuchFile);
      if (got == 0) return text_of(hash);
      hash = add(hash, std::span(piece).first(static_cast<std::size_t>(got)));
    }
  } catch (const Error&) {
    return std::string(kNoSuchFile);
  }
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
