// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

/// A table image: one file without addresses, written by the builder under another name and renamed
/// when complete, mapped read-only by every worker and read by GPUs. A new version is a new file:
/// a process that has the old one mapped keeps it.
///
/// A live image is changed by one process while others have it mapped. It has no holes, so that a
/// change finds its page in each mapping and needs no room, and its checksum says only what it was
/// when it was published.

namespace millrace {

/// Where edition `number` of the table lies whose image is `image`: "…NAME.3.image". The planner
/// gives the first 1; kCheckedEdition is one that was built to be looked at, and is removed.
std::string image_of_edition(const std::string& image, std::uint32_t number);
inline constexpr std::uint32_t kCheckedEdition = 0;

/// First bytes of every image. What the function adds begins at offset 64 or later.
///
/// | offset | size | field         | meaning                                                      |
/// |-------:|-----:|---------------|--------------------------------------------------------------|
/// |      0 |    8 | magic         | "MILLIMG" and a zero                                         |
/// |      8 |    8 | kind          | type of the function, padded with zeros                      |
/// |     16 |    4 | version       | kImageVersion                                                |
/// |     20 |    4 | counter_count | entries of FunctionCounters                                  |
/// |     24 |    8 | layout_hash   | of the function's structures, computed by the compiler       |
/// |     32 |    8 | bytes         | of the file                                                  |
/// |     40 |    8 | checksum      | of kind to bytes, and of all that follows the header         |
/// |     48 |    8 | live          | 1: a live image; 0: it never changes                         |
/// |     56 |    8 | padding       |                                                              |
struct ImageHeader {
  char magic[8];
  char kind[8];
  std::uint32_t version;
  std::uint32_t counter_count;
  std::uint64_t layout_hash;
  std::uint64_t bytes;
  std::uint64_t checksum;
  std::uint64_t live;
  std::uint64_t padding;
};
static_assert(sizeof(ImageHeader) == 64 && alignof(ImageHeader) == 8);
static_assert(offsetof(ImageHeader, magic) == 0 && offsetof(ImageHeader, kind) == 8);
static_assert(offsetof(ImageHeader, version) == 16 && offsetof(ImageHeader, counter_count) == 20);
static_assert(offsetof(ImageHeader, layout_hash) == 24 && offsetof(ImageHeader, bytes) == 32);
static_assert(offsetof(ImageHeader, checksum) == 40 && offsetof(ImageHeader, live) == 48);

inline constexpr std::uint32_t kImageVersion = 1;
inline constexpr std::size_t kImagePageBytes = 4096;  ///< checksum and holes go by such pages
inline constexpr std::uint64_t kImageBytesMax = std::uint64_t{4} << 30;

/// What tells one kind of image from another.
struct ImageKind {
  const char* type;           ///< at most 7 characters
  std::uint64_t layout_hash;  ///< changes when the structures of the image change
};

/// An image being made: zeroed memory of this process, copied to its file once it is complete, so
/// that only what was written takes room there, and a full file system is an Error. Builder's
/// thread. Throws Error that names the path.
class ImageWriter {
 public:
  /// `bytes`: of the whole image, header included, at most kImageBytesMax; rounded up to pages.
  ImageWriter(const std::string& path, ImageKind kind, std::size_t bytes);
  ImageWriter(const ImageWriter&) = delete;  // two owners would publish twice
  ImageWriter& operator=(const ImageWriter&) = delete;
  ~ImageWriter();
  std::span<std::byte> bytes() const { return {base_, bytes_}; }
  /// Fills the header, writes a file beside the path and renames it to it; the memory stays.
  void publish(std::uint32_t counter_count) { publish(counter_count, false); }
  /// The same as a live image. False when the file system has no room for it without holes, or the
  /// process may write no file of its size: then nothing is published.
  bool publish_live(std::uint32_t counter_count) { return publish(counter_count, true); }

 private:
  bool publish(std::uint32_t counter_count, bool live);

  std::string path_;
  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
};

/// A published image, mapped read-only. Throws Error when it is absent, of another kind, version or
/// layout, or damaged. The mapping lives as long as the object; holes of the file take no memory.
/// Words of a live image may change at any moment.
class MappedImage {
 public:
  MappedImage(const std::string& path, ImageKind kind);
  MappedImage(const MappedImage&) = delete;  // two owners would unmap twice
  MappedImage& operator=(const MappedImage&) = delete;
  ~MappedImage();
  const ImageHeader& header() const { return *reinterpret_cast<const ImageHeader*>(base_); }
  std::span<const std::byte> bytes() const { return {base_, bytes_}; }

 private:
  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
};

/// A live image, mapped by the process that changes it: one at a time. Throws Error as MappedImage
/// does, and for an image that is not live.
class LiveImage {
 public:
  LiveImage(const std::string& path, ImageKind kind);
  LiveImage(const LiveImage&) = delete;  // two owners would unmap twice
  LiveImage& operator=(const LiveImage&) = delete;
  ~LiveImage();
  std::span<std::byte> bytes() const { return {base_, bytes_}; }

 private:
  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Where a builder puts names of what an image has, for processes that show them.
inline std::string names_beside_image(const std::string& path) { return path + ".names"; }

/// Removes the image and the names beside it, as far as they are there. A process that has them
/// mapped keeps them.
void remove_image(const std::string& path) noexcept;

/// The header of the image there. Throws Error when no image is there.
ImageHeader read_image_header(const std::string& path);

}  // namespace millrace
