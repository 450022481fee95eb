// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0

#include "services/functions/image_file.hpp"

#include <fcntl.h>
#include <immintrin.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "shared/base/check.hpp"
#include "shared/base/error.hpp"
#include "shared/base/fnv.hpp"
#include "shared/base/unique_fd.hpp"

namespace millrace {
namespace {

constexpr std::array<char, 8> kMagic = {'M', 'I', 'L', 'L', 'I', 'M', 'G', '\0'};
/// Smaller holes are mapped with their neighbours: fewer mappings.
constexpr std::size_t kHoleBytesMin = 64 * 1024;

std::uint64_t word_at(const std::byte* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

std::size_t pages_of(std::size_t bytes) {
  return (bytes + kImagePageBytes - 1) / kImagePageBytes * kImagePageBytes;
}

/// 0 for a page of zeros, so that a hole and a page of zeros are the same.
std::uint64_t page_sum(std::span<const std::byte> page, std::uint64_t number) {
  std::uint64_t even = 0;
  std::uint64_t odd = 0;
  std::uint64_t any = 0;
  for (std::size_t at = 0; at < page.size(); at += 16) {
    const std::uint64_t first = word_at(&page[at]);
    const std::uint64_t second = word_at(&page[at + 8]);
    any |= first | second;
    even = _mm_crc32_u64(even, first);
    odd = _mm_crc32_u64(odd, second);
  }
  return any == 0 ? 0 : fnv1a({even << 32 | odd, number});
}

/// Calls visit(from, to) for each range of the file that is not a hole; page bounds.
template <typename Visit>
void for_each_extent(int file, std::size_t bytes, Visit visit) {
  std::size_t at = 0;
  while (at < bytes) {
    const off_t data = lseek(file, static_cast<off_t>(at), SEEK_DATA);
    if (data < 0) return;  // only a hole is left
    const off_t hole = lseek(file, data, SEEK_HOLE);
    if (hole < 0) throw system_error("look for holes", errno);
    const std::size_t from = static_cast<std::size_t>(data) / kImagePageBytes * kImagePageBytes;
    at = std::min(pages_of(static_cast<std::size_t>(hole)), bytes);
    visit(from, at);
  }
}

std::uint64_t checksum_of(int file, const std::byte* base, std::size_t bytes) {
  const auto& header = *reinterpret_cast<const ImageHeader*>(base);
  std::uint64_t sum =
      fnv1a({word_at(reinterpret_cast<const std::byte*>(header.kind)), header.version,
             header.counter_count, header.layout_hash, header.bytes});
  for_each_extent(file, bytes, [&](std::size_t from, std::size_t to) {
    for (std::size_t page = from; page < to; page += kImagePageBytes) {
      const std::size_t skip = page == 0 ? sizeof(ImageHeader) : 0;
      sum += page_sum({base + page + skip, kImagePageBytes - skip}, page / kImagePageBytes);
    }
  });
  return sum;
}

void put_kind(ImageHeader& header, const char* type) {
  std::memset(header.kind, 0, sizeof header.kind);
  std::memcpy(header.kind, type, strnlen(type, sizeof header.kind - 1));
}

void check_header(const ImageHeader& header, ImageKind kind, std::size_t bytes) {
  ImageHeader expected{};
  put_kind(expected, kind.type);
  if (std::memcmp(header.magic, kMagic.data(), kMagic.size()) != 0) {
    throw Error("not a table image");
  }
  if (std::memcmp(header.kind, expected.kind, sizeof header.kind) != 0) {
    throw Error("the image of another function than " + std::string(kind.type));
  }
  if (header.version != kImageVersion || header.layout_hash != kind.layout_hash) {
    throw Error("the image of another build of Millrace; build it again");
  }
  if (header.bytes != bytes) {
    throw Error(std::to_string(bytes) + " bytes long, its header says " +
                std::to_string(header.bytes));
  }
}

void map_range_of(int file, std::byte* base, std::size_t from, std::size_t to) {
  if (to <= from) return;
  void* at = mmap(base + from, to - from, PROT_READ, MAP_SHARED | MAP_FIXED, file,
                  static_cast<off_t>(from));
  if (at == MAP_FAILED) throw system_error("map a table image", errno);
}

/// Holes are mapped as anonymous memory: reading them takes the kernel's one page of zeros, while a
/// hole of a tmpfs file would take a page of its own each, or SIGBUS when none is left.
std::byte* map_extents(int file, std::size_t bytes) {
  void* memory =
      mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw system_error("reserve memory for a table image", errno);
  auto* base = static_cast<std::byte*>(memory);
  try {
    std::size_t from = 0;
    std::size_t to = 0;
    for_each_extent(file, bytes, [&](std::size_t data, std::size_t hole) {
      if (data - to > kHoleBytesMin) {
        map_range_of(file, base, from, to);
        from = data;
      }
      to = hole;
    });
    map_range_of(file, base, from, to);
  } catch (const Error&) {
    munmap(base, bytes);
    throw;
  }
  return base;
}

std::byte* map_whole(int file, std::size_t bytes, int protection) {
  void* memory = mmap(nullptr, bytes, protection, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) throw system_error("map a table image", errno);
  return static_cast<std::byte*>(memory);
}

/// `bytes` receives its size.
UniqueFd open_image(const std::string& path, int flags, std::size_t& bytes) {
  UniqueFd file(open(path.c_str(), flags | O_CLOEXEC));
  if (!file) throw system_error("open " + path, errno);
  struct stat info {};
  if (fstat(file.get(), &info) != 0) throw system_error("stat " + path, errno);
  bytes = static_cast<std::size_t>(info.st_size);
  if (bytes == 0 || bytes > kImageBytesMax || bytes % kImagePageBytes != 0) {
    throw Error(path + ": not a table image");
  }
  return file;
}

ImageHeader read_header(int file, const std::string& path) {
  ImageHeader header{};
  if (pread(file, &header, sizeof header, 0) != sizeof header) {
    throw Error(path + ": not a table image");
  }
  return header;
}

/// Gives each page of the file its memory. False when there is none left.
bool reserve(int file, const std::string& path, std::size_t bytes) {
  const int error = posix_fallocate(file, 0, static_cast<off_t>(bytes));
  if (error == ENOSPC || error == EFBIG) return false;
  if (error != 0) throw system_error("reserve " + path, error);
  return true;
}

bool is_zero(std::span<const std::byte> page) {
  std::uint64_t any = 0;
  for (std::size_t at = 0; at < page.size(); at += 8) any |= word_at(&page[at]);
  return any == 0;
}

void write_range(int file, const std::string& path, std::span<const std::byte> all, std::size_t at,
                 std::size_t to) {
  while (at < to) {
    const ssize_t wrote = pwrite(file, &all[at], to - at, static_cast<off_t>(at));
    if (wrote > 0) {
      at += static_cast<std::size_t>(wrote);
    } else if (errno == ENOSPC) {
      const std::string folder = path.substr(0, path.rfind('/'));
      throw Error(path + ": No space left on device; mend: mount -o remount,size=1G " + folder +
                  " (a container: --shm-size=1g), or remove what else lies there");
    } else if (errno != EINTR) {
      throw system_error("write " + path, errno);
    }
  }
}

/// Pages of zeros stay holes, which take no room.
void write_pages(int file, const std::string& path, std::span<const std::byte> all) {
  std::size_t from = 0;
  for (std::size_t at = 0; at < all.size(); at += kImagePageBytes) {
    if (!is_zero(all.subspan(at, kImagePageBytes))) continue;
    write_range(file, path, all, from, at);
    from = at + kImagePageBytes;
  }
  write_range(file, path, all, from, all.size());
}

}  // namespace

ImageWriter::ImageWriter(const std::string& path, ImageKind kind, std::size_t bytes)
    : path_(path), bytes_(pages_of(bytes)) {
  MILLRACE_CHECK(bytes >= sizeof(ImageHeader) && bytes <= kImageBytesMax);
  void* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw system_error("reserve memory for a table image", errno);
  base_ = static_cast<std::byte*>(memory);
  auto& header = *reinterpret_cast<ImageHeader*>(base_);
  std::memcpy(header.magic, kMagic.data(), kMagic.size());
  put_kind(header, kind.type);
  header.version = kImageVersion;
  header.layout_hash = kind.layout_hash;
  header.bytes = bytes_;
}

ImageWriter::~ImageWriter() { munmap(base_, bytes_); }

bool ImageWriter::publish(std::uint32_t counter_count, bool live) {
  const std::string draft = path_ + ".tmp." + std::to_string(getpid());
  const UniqueFd file(open(draft.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file) throw system_error("create " + draft, errno);
  auto& header = *reinterpret_cast<ImageHeader*>(base_);
  header.counter_count = counter_count;
  header.live = live ? 1 : 0;
  try {
    if (live && !reserve(file.get(), draft, bytes_)) {
      unlink(draft.c_str());
      return false;
    }
    if (ftruncate(file.get(), static_cast<off_t>(bytes_)) != 0) {
      throw system_error("enlarge " + draft, errno);
    }
    write_pages(file.get(), path_, bytes());
    header.checksum = checksum_of(file.get(), base_, bytes_);
    write_range(file.get(), path_, bytes(), 0, kImagePageBytes);
    if (rename(draft.c_str(), path_.c_str()) != 0) {
      throw system_error("rename " + draft + " to " + path_, errno);
    }
  } catch (const Error&) {
    unlink(draft.c_str());
    throw;
  }
  return true;
}

MappedImage::MappedImage(const std::string& path, ImageKind kind) {
  const UniqueFd file = open_image(path, O_RDONLY, bytes_);
  const bool live = read_header(file.get(), path).live != 0;
  base_ = live ? map_whole(file.get(), bytes_, PROT_READ) : map_extents(file.get(), bytes_);
  try {
    while_doing(path, [&] {
      check_header(header(), kind, bytes_);
      if (!live && checksum_of(file.get(), base_, bytes_) != header().checksum) {
        throw Error("damaged: its checksum differs");
      }
    });
  } catch (const Error&) {
    munmap(base_, bytes_);
    throw;
  }
}

MappedImage::~MappedImage() { munmap(base_, bytes_); }

LiveImage::LiveImage(const std::string& path, ImageKind kind) {
  const UniqueFd file = open_image(path, O_RDWR, bytes_);
  const ImageHeader header = read_header(file.get(), path);
  while_doing(path, [&] {
    check_header(header, kind, bytes_);
    if (header.live == 0) throw Error("not a live image");
  });
  base_ = map_whole(file.get(), bytes_, PROT_READ | PROT_WRITE);
}

LiveImage::~LiveImage() { munmap(base_, bytes_); }

std::string image_of_edition(const std::string& image, std::uint32_t number) {
  const std::string ending = ".image";
  const std::size_t dot = image.rfind('.', image.size() - ending.size() - 1);
  return image.substr(0, dot) + "." + std::to_string(number) + ending;
}

void remove_image(const std::string& path) noexcept {
  ::unlink(path.c_str());
  ::unlink(names_beside_image(path).c_str());
}

ImageHeader read_image_header(const std::string& path) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) throw system_error("open " + path, errno);
  return read_header(file.get(), path);
}

}  // namespace millrace
