// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "services/functions/route/route_image.hpp"

/// A ring in a live image that says which words of its tables have changed, in the order in which
/// they have: so a copy on a device follows word by word. A record is written behind its change, so
/// what is copied of the image is at least as new as the records that there are by then.

namespace millrace {

/// The writer's side: all changes of table words go through it. One thread.
class LiveJournal {
 public:
  /// Changes are noted nowhere: no device has a copy.
  LiveJournal() = default;
  /// `words`: the whole image; both borrowed. Says that another writer has begun.
  LiveJournal(std::span<std::uint32_t> words, std::span<LiveRecord> records, RouteLive& live);

  /// A word that readers may load at any moment: what was stored before is visible with it.
  void store(std::uint32_t& word, std::uint32_t value) noexcept;
  /// A word of a piece to which nothing leads yet.
  void fill(std::uint32_t& word, std::uint32_t value) noexcept;
  /// Pieces that the table has let go of are written anew from now on.
  void grace() noexcept;

 private:
  void note(std::uint32_t* word, std::uint32_t flags, std::uint32_t value) noexcept;
  void append(LiveRecord record) noexcept;

  std::span<std::uint32_t> words_;
  std::span<LiveRecord> records_;
  RouteLive* live_ = nullptr;
  std::uint64_t end_ = 0;
};

/// The side of a process with a copy. It maps the image, and takes no lock. One thread.
class LiveJournalReader {
 public:
  /// `table` of a mapped image with a journal; borrowed. From here on.
  explicit LiveJournalReader(const RouteTable& table) : table_(table) { begin(); }

  /// What is copied of the image from now on has all records before this place.
  void begin() noexcept;
  /// The next records, as many as there are and fit; taken() says how many were used. Nothing: some
  /// are lost, and the copy has to be made anew behind begin().
  std::optional<std::span<const LiveRecord>> read(std::span<LiveRecord> room) noexcept;
  void taken(std::size_t count) noexcept { at_ += count; }

 private:
  std::uint64_t end() const noexcept;
  std::uint64_t writers() const noexcept;

  const RouteTable& table_;
  std::uint64_t at_ = 0;
  std::uint64_t writers_ = 0;
};

}  // namespace millrace
