// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a capture: they are refused, or give records that lie in the file, end after as many
// as fit, and are the same when read again.

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

#include "io-worker/ports/capture_reader.hpp"
#include "shared/base/check.hpp"
#include "shared/base/error.hpp"

namespace {

using millrace::CaptureReader;
using millrace::CaptureRecord;
using millrace::CaptureStatus;

struct Reading {
  bool refused = false;
  std::uint64_t records = 0, bytes = 0, sum = 0, end = 0;
  CaptureStatus status = CaptureStatus::kRecord;
  friend bool operator==(const Reading&, const Reading&) = default;
};

Reading read(int file, size_t size) {
  Reading reading;
  ::lseek(file, 0, SEEK_SET);
  try {
    CaptureReader reader(millrace::UniqueFd(::dup(file)), "fuzz");
    CaptureRecord record;
    while ((reading.status = reader.next(record)) == CaptureStatus::kRecord) {
      ++reading.records;
      reading.bytes += record.bytes.size();
      reading.sum += record.time_ns ^ record.wire_length;
      // Touches every byte.
      for (const std::byte byte : record.bytes) reading.sum += static_cast<std::uint8_t>(byte);
      MILLRACE_CHECK(reading.records * 16 + reading.bytes <= size);
      MILLRACE_CHECK(reader.offset() <= size);
    }
    reading.end = reader.offset();
    MILLRACE_CHECK(reader.next(record) == reading.status);
    MILLRACE_CHECK(reader.offset() == reading.end);
    MILLRACE_CHECK(reading.status != CaptureStatus::kEnd || reading.end == size);
  } catch (const millrace::Error&) {
    reading.refused = true;
  }
  return reading;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const int kFile = ::memfd_create("fuzz", MFD_CLOEXEC);
  MILLRACE_CHECK(::ftruncate(kFile, 0) == 0);
  MILLRACE_CHECK(::pwrite(kFile, data, size, 0) == static_cast<ssize_t>(size));
  MILLRACE_CHECK(read(kFile, size) == read(kFile, size));
  return 0;
}
