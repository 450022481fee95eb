// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/segment_look.hpp"

#include <sys/stat.h>

#include <cerrno>

#include "io-worker/ports/kept_file.hpp"
#include "orchestration/supervisor/run_dir.hpp"
#include "shared/base/error.hpp"
#include "shared/base/run_words.hpp"

namespace millrace {
namespace {

std::size_t size_of(int file) {
  struct stat info {};
  if (::fstat(file, &info) != 0) throw system_error("stat the segment", errno);
  return static_cast<std::size_t>(info.st_size);
}

Mapping map_tables(const UniqueFd& file, const Plan& plan, bool writable) {
  const std::uint64_t bytes = segment_layout(plan).buffers;
  if (size_of(file.get()) < bytes) {
    throw Error("the segment is smaller than this build's layout of it; use the build that runs");
  }
  return Mapping::of_file(file.get(), bytes, "the segment", writable);
}

}  // namespace

UniqueFd segment_of(const Plan& plan, const std::string& run_dir) {
  for (const FoundProcess& process : find_processes(run_dir)) {
    if (UniqueFd file = segment_file_of(process.pid, plan.name)) return file;
  }
  if (UniqueFd file = borrow_kept(run_dir, kSegmentLoan)) return file;
  throw Error("no process in " + run_dir +
              " hands its memory over; see what is alive (millrace status " +
              words_for_run(plan.name, run_dir) + "), or run this as the user of the topology");
}

SegmentLook::SegmentLook(const UniqueFd& file, const Plan& plan, bool writable)
    : mapping_(map_tables(file, plan, writable)),
      view_(SegmentView::attach(mapping_.base(), size_of(file.get()), plan)) {}

}  // namespace millrace
