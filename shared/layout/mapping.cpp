// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "shared/layout/mapping.hpp"

#include <fcntl.h>
#include <linux/memfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "shared/base/error.hpp"
#include "shared/base/huge_pages.hpp"
#include "shared/base/limits.hpp"
#include "shared/layout/status_layout.hpp"

namespace millrace {
namespace {

std::byte* map(int fd, std::size_t bytes, bool writable, std::uintptr_t at, int extra_flags) {
  const int protection = PROT_READ | (writable ? PROT_WRITE : 0);
  const int fixed = at != 0 ? MAP_FIXED_NOREPLACE : 0;
  void* base = mmap(reinterpret_cast<void*>(at), bytes, protection,
                    (fd < 0 ? MAP_ANONYMOUS : 0) | MAP_SHARED | fixed | extra_flags, fd, 0);
  return base == MAP_FAILED ? nullptr : static_cast<std::byte*>(base);
}

std::size_t size_of(int fd, const std::string& path) {
  struct stat info {};
  if (fstat(fd, &info) != 0) throw system_error("stat " + path, errno);
  return static_cast<std::size_t>(info.st_size);
}

Error too_few_pages(std::size_t bytes) {
  return Error("not enough free huge pages: " +
               too_few_huge_pages(huge_pages().value_or(HugePages{}), bytes / kHugePage));
}

std::string segment_name(const std::string& topology) {
  return "millrace-" + topology + ".segment";
}

}  // namespace

Mapping::Mapping(Mapping&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Mapping::~Mapping() {
  if (base_ != nullptr) munmap(base_, bytes_);
}

UniqueFd make_segment_file(const std::string& topology) {
  UniqueFd file(
      memfd_create(segment_name(topology).c_str(), MFD_CLOEXEC | MFD_HUGETLB | MFD_HUGE_2MB));
  if (file) return file;
  const bool none = errno == ENODEV || errno == EINVAL || errno == ENOENT;
  if (!none) throw system_error("make the segment's file", errno);
  throw Error("this kernel has no huge pages of 2 MB; mend: boot with hugepagesz=2M hugepages=64");
}

UniqueFd segment_file_of(pid_t process, const std::string& topology) {
  const std::string path = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(kSegmentFd);
  std::error_code error;
  const std::string target = std::filesystem::read_symlink(path, error);
  if (error || !target.starts_with("/memfd:" + segment_name(topology))) return UniqueFd();
  return UniqueFd(open(path.c_str(), O_RDWR | O_CLOEXEC));
}

Mapping Mapping::create_segment(int file, std::size_t bytes) {
  if (size_of(file, "the segment") != 0) throw Error("the segment is in use already");
  // fallocate reserves the pages, so that a shortage is an error here and not a SIGBUS at first
  // touch.
  if (ftruncate(file, static_cast<off_t>(bytes)) != 0 ||
      fallocate(file, 0, 0, static_cast<off_t>(bytes)) != 0) {
    throw too_few_pages(bytes);
  }
  std::byte* base = map(file, bytes, true, kSegmentAddress, MAP_POPULATE);
  if (base == nullptr && errno == ENOMEM) throw too_few_pages(bytes);
  if (base == nullptr) throw system_error("map the segment", errno);
  return {base, bytes};
}

Mapping Mapping::attach_segment(int file) {
  const std::size_t bytes = size_of(file, "the segment (descriptor 3, from the supervisor)");
  if (bytes == 0) throw Error("the segment is not ready: awaits the hub");
  std::byte* base = map(file, bytes, true, kSegmentAddress, 0);
  if (base == nullptr) throw system_error("map the segment", errno);
  return {base, bytes};
}

Mapping Mapping::create_status(const std::string& name, std::size_t bytes) {
  const UniqueFd fd(shm_open(name.c_str(), O_CREAT | O_EXCL | O_RDWR, 0600));
  if (!fd) throw system_error("create status file /dev/shm" + name, errno);
  // All of it now: a page that is missing later ends the process that touches it (SIGBUS).
  if (const int error = posix_fallocate(fd.get(), 0, static_cast<off_t>(bytes)); error != 0) {
    shm_unlink(name.c_str());
    throw system_error("make room for status file /dev/shm" + name, error);
  }
  std::byte* base = map(fd.get(), bytes, true, 0, MAP_POPULATE);
  if (base == nullptr) throw system_error("map status file /dev/shm" + name, errno);
  return {base, bytes};
}

Mapping Mapping::attach_status(const std::string& name, bool writable) {
  const UniqueFd fd(shm_open(name.c_str(), writable ? O_RDWR : O_RDONLY, 0));
  if (!fd)
    throw system_error("attach to status file /dev/shm" + name + " (made by the hub)", errno);
  const std::size_t bytes = size_of(fd.get(), name);
  if (bytes < sizeof(StatusHeader))
    throw Error("status file /dev/shm" + name + " is not ready yet");
  std::byte* base = map(fd.get(), bytes, writable, 0, 0);
  if (base == nullptr) throw system_error("map status file /dev/shm" + name, errno);
  return {base, bytes};
}

Mapping Mapping::attach_status_part(const std::string& name, std::size_t offset,
                                    std::size_t bytes) {
  const UniqueFd fd(shm_open(name.c_str(), O_RDWR, 0));
  if (!fd) throw system_error("attach to status file /dev/shm" + name, errno);
  void* const base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(),
                          static_cast<off_t>(offset));
  if (base == MAP_FAILED) throw system_error("map a part of status file /dev/shm" + name, errno);
  return {static_cast<std::byte*>(base), bytes};
}

Mapping Mapping::of_file(int file, std::size_t bytes, const std::string& what, bool writable) {
  std::byte* base = map(file, bytes, writable, 0, 0);
  if (base == nullptr) throw system_error("map " + what, errno);
  return {base, bytes};
}

Mapping Mapping::create_anonymous(std::size_t bytes) {
  std::byte* base = map(-1, bytes, true, 0, 0);
  if (base == nullptr) throw system_error("map anonymous memory", errno);
  return {base, bytes};
}

std::string dpdk_prefix(const std::string& topology) { return "millrace-" + topology; }

namespace {

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

/// EAL's folder and huge page files, which stay when its primary process is killed.
void remove_dpdk_files(const std::string& topology, const std::string& hugetlbfs) noexcept {
  namespace fs = std::filesystem;
  std::error_code error;  // what is not there need not be removed
  const char* home = std::getenv("XDG_RUNTIME_DIR");
  const std::string base = geteuid() == 0 ? "/var/run" : home != nullptr ? home : "/tmp";
  fs::remove_all(base + "/dpdk/" + dpdk_prefix(topology), error);
  const std::string begin = dpdk_prefix(topology) + "map_";
  std::vector<fs::path> ours;
  for (const fs::directory_entry& entry : fs::directory_iterator(hugetlbfs, error)) {
    const std::string name = entry.path().filename();
    if (name.starts_with(begin) && is_number(name.substr(begin.size()))) {
      ours.push_back(entry.path());
    }
  }
  for (const fs::path& path : ours) fs::remove(path, error);
}

}  // namespace

void destroy_shared_memory(const std::string& topology) noexcept {
  shm_unlink(status_file_name(topology).c_str());
  if (const auto mount = huge_mount()) remove_dpdk_files(topology, mount->folder);
}

}  // namespace millrace
