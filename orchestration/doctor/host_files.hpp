// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// What this host tells of itself in files: /proc, /sys, /dev. Seen below a root folder, so that a
/// test can show the doctor a host that is made of a few files.

namespace millrace {

class HostFiles {
 public:
  explicit HostFiles(std::filesystem::path root = "/") : root_(std::move(root)) {}

  /// Where an absolute path of the host lies.
  std::filesystem::path at(const std::string& path) const;
  bool exists(const std::string& path) const;
  /// The whole file without the line break at its end; nothing when it cannot be read.
  std::optional<std::string> text(const std::string& path) const;
  /// Its first word as a number.
  std::optional<std::uint64_t> number(const std::string& path) const;
  /// The rest of the first line that starts with `key`, without blanks at its ends.
  std::optional<std::string> line(const std::string& path, const std::string& key) const;
  /// Names in a folder, sorted; none when there is no such folder.
  std::vector<std::string> names(const std::string& folder) const;
  /// Last part of what a link points to; empty when it is none.
  std::string link_name(const std::string& path) const;

 private:
  std::filesystem::path root_;
};

/// Words between blanks.
std::vector<std::string> words_of(const std::string& text);

/// Numbers in a list such as "0-3,8"; what is no list has none.
std::size_t count_of_list(const std::string& list);

/// A mount of the host.
struct Mount {
  std::string folder, type, options;
};
std::vector<Mount> mounts_of(const HostFiles& host);

}  // namespace millrace
