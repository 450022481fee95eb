// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/control/build_id.hpp"

#include <elf.h>
#include <link.h>

#include <charconv>
#include <cstdio>
#include <cstring>

#include "shared/base/check.hpp"

namespace millrace {
namespace {

constexpr std::size_t kNumberDigits = 16;

constexpr std::size_t align4(std::size_t bytes) { return (bytes + 3) & ~std::size_t{3}; }

std::string hex(const unsigned char* bytes, std::size_t count) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text += kDigits[bytes[i] >> 4];
    text += kDigits[bytes[i] & 15];
  }
  return text;
}

/// Walks the notes of one segment (ELF gABI, "Note Section").
std::string find_in_notes(const unsigned char* note, std::size_t bytes) {
  while (bytes >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) header;
    std::memcpy(&header, note, sizeof header);
    const std::size_t name_at = sizeof header;
    const std::size_t text_at = name_at + align4(header.n_namesz);
    const std::size_t end = text_at + align4(header.n_descsz);
    if (end > bytes) break;
    MILLRACE_CHECK(text_at + header.n_descsz <= bytes);
    const bool gnu = header.n_namesz == 4 && std::memcmp(note + name_at, "GNU", 4) == 0;
    if (gnu && header.n_type == NT_GNU_BUILD_ID) return hex(note + text_at, header.n_descsz);
    note += end;
    bytes -= end;
  }
  return "";
}

int look_at_object(dl_phdr_info* info, std::size_t, void* found) {
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    const auto* start = reinterpret_cast<const unsigned char*>(info->dlpi_addr + segment.p_vaddr);
    std::string& id = *static_cast<std::string*>(found);
    if (id.empty()) id = find_in_notes(start, segment.p_memsz);
  }
  return 1;  // the first object is the executable; no others
}

}  // namespace

std::string build_id() {
  std::string id;
  ::dl_iterate_phdr(look_at_object, &id);
  return id;
}

std::uint64_t build_number(std::string_view id) noexcept {
  std::uint64_t number = 0;
  if (id.size() < kNumberDigits) return 0;
  const char* const end = id.data() + kNumberDigits;
  const auto [stop, error] = std::from_chars(id.data(), end, number, 16);
  return stop == end && error == std::errc{} ? number : 0;
}

std::string build_name(std::uint64_t number) {
  if (number == 0) return "none";
  char digits[kNumberDigits + 1];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(number));
  return digits;
}

}  // namespace millrace
