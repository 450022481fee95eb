// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hs/hs.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

/// Vectorscan for sets of literals: one database finds all of them in a text.

namespace millrace {

struct HsDatabaseFree {
  void operator()(hs_database_t* database) const noexcept { hs_free_database(database); }
};
using HsDatabase = std::unique_ptr<hs_database_t, HsDatabaseFree>;

struct HsScratchFree {
  void operator()(hs_scratch_t* scratch) const noexcept { hs_free_scratch(scratch); }
};
/// Memory that a scan needs. One a thread.
using HsScratch = std::unique_ptr<hs_scratch_t, HsScratchFree>;

/// What a scan reports of a literal that stands in a text several times.
enum class MatchPlaces : std::uint8_t {
  kOne,   ///< the first one: for packets
  kEach,  ///< for texts that begin with what has been scanned before
};

/// Two bytes or more. (Single bytes are looked for one by one: a set that holds some makes the
/// library miss others, once in a million texts.)
struct HsLiteral {
  std::string bytes;
  bool nocase = false;
  unsigned number = 0;  ///< what the scan reports
};

/// A set that the library does not take.
struct HsRefusal {
  int literal = -1;    ///< place of the literal that is at fault; -1: the set as a whole
  std::string reason;  ///< empty: nothing was refused
};

/// Null without literals, and when the library refuses them. Builder's thread; seconds for tens of
/// thousands.
HsDatabase compile_literals(const std::vector<HsLiteral>& literals, MatchPlaces places,
                            HsRefusal& refusal);

/// The database as bytes for an image; none of null. Throws Error: no memory.
std::vector<std::byte> serialize_database(const hs_database_t* database);
/// In memory of the caller's own; null of no bytes. Throws Error when they are damaged or of
/// another version or processor.
HsDatabase deserialize_database(std::span<const std::byte> bytes);

/// Makes room in `scratch` for scans of one more database; null needs none. Throws Error: no
/// memory.
void grow_scratch(HsScratch& scratch, const hs_database_t* database);

/// Calls on_event(number, 0, end, 0, context) for literals in `text`, until it gives other than 0.
/// `end`: one past the literal's last byte. `text` is not empty.
void scan_text(const hs_database_t* database, std::span<const std::byte> text,
               hs_scratch_t* scratch, match_event_handler on_event, void* context) noexcept;

}  // namespace millrace
