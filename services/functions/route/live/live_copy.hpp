// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "services/functions/device_function.hpp"
#include "services/functions/image_file.hpp"
#include "services/functions/route/live/live_journal.hpp"
#include "services/functions/route/route_image.hpp"

namespace millrace {

/// The tables of a live image on a device, which follow it word by word: a look-up there finds the
/// old or the new next hop. Words are copied in the order of the journal. What a word leads to is
/// there before the word; a piece that was let go of is written when no batch that could have found
/// it is at the device. What the journal has lost is copied as a whole, into another piece of
/// memory; then the word at where() says that the tables are there. Control thread.
class LiveCopy final : public DeviceFollower {
 public:
  /// Makes the first copy. Throws Error when there is no room. `memory` is borrowed for the call.
  LiveCopy(std::unique_ptr<MappedImage> image, DeviceMemory& memory);

  /// Of the image. What lies from table24 on is on the device.
  const RouteTable& table() const { return table_; }
  /// On the device: the first copy of table24, and the word that says where it is now.
  const std::byte* first() const { return first_; }
  const std::byte* where() const { return where_; }

  DeviceCopies follow(DeviceMemory& memory, ReaderGrace& grace) override;

 private:
  const std::byte* copy(DeviceMemory& memory);
  bool catch_up(DeviceMemory& memory, const std::byte* to);
  std::uint64_t copy_changes(DeviceMemory& memory, ReaderGrace& grace);
  bool begin_grace(ReaderGrace& grace);
  void copy_anew(DeviceMemory& memory, ReaderGrace& grace);
  void give_back_old(DeviceMemory& memory, ReaderGrace& grace);
  std::size_t put_until_grace(std::span<const LiveRecord> records, DeviceMemory& memory,
                              const std::byte* to);
  void put(const LiveRecord& record, DeviceMemory& memory, const std::byte* to);
  void write_run(DeviceMemory& memory, const std::byte* to);
  void settle(DeviceMemory& memory, const std::byte* to);

  std::unique_ptr<MappedImage> image_;
  RouteTable table_;
  LiveJournalReader journal_;
  std::span<const std::byte> tables_;  ///< of the image: from table24 on
  std::uint32_t first_word_;           ///< of tables_, in words from the start of the image
  std::vector<LiveRecord> room_;

  const std::byte* first_ = nullptr;
  const std::byte* there_ = nullptr;  ///< the copy that batches read
  const std::byte* where_ = nullptr;
  const std::byte* old_ = nullptr;  ///< one that batches may still read; null: none
  std::uint64_t old_moment_ = 0;
  bool lost_ = false;  ///< a whole copy is needed

  // Words side by side that are written together, in any order.
  std::vector<std::uint32_t> run_;
  std::uint32_t run_at_ = 0;  ///< place of the first
  bool unsettled_ = false;    ///< some were written since settle()

  bool waits_ = false;  ///< for batches that were at the device at moment_
  std::uint64_t moment_ = 0;
};

}  // namespace millrace
