// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/hub/lost_batches.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <vector>

#include "io-worker/ports/pcapng_write.hpp"
#include "shared/base/check.hpp"
#include "shared/base/clock.hpp"
#include "shared/base/error.hpp"
#include "shared/base/unique_fd.hpp"

namespace millrace {

LostBatches::LostBatches(std::string run_dir, std::uint64_t file_bytes_max)
    : run_dir_(std::move(run_dir)), file_bytes_max_(file_bytes_max) {}

std::uint32_t LostBatches::keep(const Batch& batch, const std::string& comment) {
  MILLRACE_CHECK(batch.count <= batch.capacity);
  std::vector<std::byte> blocks;
  const std::uint64_t now_ns = system_clock_ns();
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < batch.count; ++i) {
    if (batch.is_dropped(i)) continue;
    put_pcapng_packet(blocks, 0, {batch.bytes(i), batch.wire_length(i), now_ns},
                      PcapngDirection::kUnknown, comment);
    ++count;
  }
  if (count == 0) return 0;
  const std::string newest = path("lost.pcapng");
  struct stat info {};
  const bool is_there = ::stat(newest.c_str(), &info) == 0 && info.st_size > 0;
  const bool is_full =
      is_there && static_cast<std::uint64_t>(info.st_size) + blocks.size() > file_bytes_max_;
  if (is_full) ::rename(newest.c_str(), path("lost.1.pcapng").c_str());
  if (is_full || !is_there) {
    std::vector<std::byte> all;
    put_pcapng_section(all, "millrace");
    put_pcapng_interface(all, {"lost", "", 0});
    all.insert(all.end(), blocks.begin(), blocks.end());
    blocks = std::move(all);
  }
  const UniqueFd file(
      ::open(newest.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) throw system_error("open " + newest, errno);
  // One call: a leader that dies here leaves whole blocks or none.
  const ssize_t wrote = ::write(file.get(), blocks.data(), blocks.size());
  if (wrote == static_cast<ssize_t>(blocks.size())) return count;
  const int error = wrote < 0 ? errno : ENOSPC;
  const off_t before = is_there && !is_full ? info.st_size : 0;
  if (wrote > 0 && ::ftruncate(file.get(), before) != 0) {
    throw system_error("cut " + newest + " back to its whole blocks", errno);
  }
  throw system_error("write " + newest, error);
}

}  // namespace millrace
