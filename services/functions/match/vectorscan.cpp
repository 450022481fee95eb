// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/match/vectorscan.hpp"

#include <cstdlib>
#include <cstring>

#include "shared/base/check.hpp"
#include "shared/base/error.hpp"

// Vectorscan 5.4.9 chooses its code by the processor, and its AVX-512 code misses literals: two
// short ones once in a thousand texts, a single byte two times in three (the random texts of
// scanner_test.cpp show it on such a processor). So its AVX2 code is called by name.
extern "C" hs_error_t avx2_hs_scan(const hs_database_t* database, const char* data, unsigned length,
                                   unsigned flags, hs_scratch_t* scratch,
                                   match_event_handler on_event, void* context);

namespace millrace {
namespace {

struct CompileErrorFree {
  void operator()(hs_compile_error_t* error) const noexcept { hs_free_compile_error(error); }
};
struct BytesFree {
  void operator()(char* bytes) const noexcept { std::free(bytes); }
};

/// The literal as a regular expression of nothing but bytes. (The library's interface for pure
/// literals takes one that begins with a zero byte for empty.)
std::string expression_of(const std::string& literal) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string expression;
  for (const char byte : literal) {
    const auto value = static_cast<unsigned char>(byte);
    expression += {'\\', 'x', kDigits[value / 16], kDigits[value % 16]};
  }
  return expression;
}

}  // namespace

HsDatabase compile_literals(const std::vector<HsLiteral>& literals, MatchPlaces places,
                            HsRefusal& refusal) {
  refusal = {};
  if (literals.empty()) return nullptr;
  const unsigned reports = places == MatchPlaces::kOne ? HS_FLAG_SINGLEMATCH : 0;
  std::vector<std::string> expressions;
  std::vector<const char*> texts;
  std::vector<unsigned> flags, identifiers;
  expressions.reserve(literals.size());
  for (const HsLiteral& literal : literals) {
    identifiers.push_back(literal.number);
    expressions.push_back(expression_of(literal.bytes));
    texts.push_back(expressions.back().c_str());
    flags.push_back(reports | (literal.nocase ? HS_FLAG_CASELESS : 0));
  }
  hs_database_t* database = nullptr;
  hs_compile_error_t* error = nullptr;
  // For the code that scan_text() calls, on whatever processor this runs.
  const hs_platform_info_t platform{HS_TUNE_FAMILY_GENERIC, HS_CPU_FEATURES_AVX2, 0, 0};
  const hs_error_t status = hs_compile_multi(texts.data(), flags.data(), identifiers.data(),
                                             static_cast<unsigned>(texts.size()), HS_MODE_BLOCK,
                                             &platform, &database, &error);
  const std::unique_ptr<hs_compile_error_t, CompileErrorFree> owner(error);
  if (status == HS_SUCCESS) return HsDatabase(database);
  refusal.literal = error == nullptr ? -1 : error->expression;
  refusal.reason = error == nullptr ? "error " + std::to_string(status) : error->message;
  return nullptr;
}

std::vector<std::byte> serialize_database(const hs_database_t* database) {
  if (database == nullptr) return {};
  char* serialized = nullptr;
  std::size_t bytes = 0;
  const hs_error_t status = hs_serialize_database(database, &serialized, &bytes);
  const std::unique_ptr<char, BytesFree> owner(serialized);
  if (status != HS_SUCCESS) throw Error("no memory for the Vectorscan database");
  std::vector<std::byte> copy(bytes);
  std::memcpy(copy.data(), serialized, bytes);
  return copy;
}

HsDatabase deserialize_database(std::span<const std::byte> bytes) {
  if (bytes.empty()) return nullptr;
  hs_database_t* database = nullptr;
  const hs_error_t status =
      hs_deserialize_database(reinterpret_cast<const char*>(bytes.data()), bytes.size(), &database);
  if (status != HS_SUCCESS) {
    throw Error("the Vectorscan database is of another version or processor (error " +
                std::to_string(status) + "); build the table again");
  }
  return HsDatabase(database);
}

void grow_scratch(HsScratch& scratch, const hs_database_t* database) {
  if (database == nullptr) return;
  hs_scratch_t* grown = scratch.release();
  const hs_error_t status = hs_alloc_scratch(database, &grown);
  scratch.reset(grown);
  if (status != HS_SUCCESS) throw Error("no memory for Vectorscan's scratch");
}

void scan_text(const hs_database_t* database, std::span<const std::byte> text,
               hs_scratch_t* scratch, match_event_handler on_event, void* context) noexcept {
  const hs_error_t status =
      avx2_hs_scan(database, reinterpret_cast<const char*>(text.data()),
                   static_cast<unsigned>(text.size()), 0, scratch, on_event, context);
  MILLRACE_CHECK(status == HS_SUCCESS || status == HS_SCAN_TERMINATED);
}

}  // namespace millrace
