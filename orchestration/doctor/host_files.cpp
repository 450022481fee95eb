// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/doctor/host_files.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>
#include <system_error>

namespace fs = std::filesystem;

namespace millrace {

fs::path HostFiles::at(const std::string& path) const {
  return root_ / fs::path(path).relative_path();
}

bool HostFiles::exists(const std::string& path) const {
  std::error_code error;
  return fs::exists(at(path), error);
}

std::optional<std::string> HostFiles::text(const std::string& path) const {
  std::ifstream file(at(path), std::ios::binary);
  if (!file) return std::nullopt;
  std::ostringstream all;
  all << file.rdbuf();
  std::string text = all.str();
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

std::optional<std::uint64_t> HostFiles::number(const std::string& path) const {
  const auto words = words_of(text(path).value_or(""));
  std::uint64_t value = 0;
  if (words.empty()) return std::nullopt;
  const char* end = words[0].data() + words[0].size();
  const auto result = std::from_chars(words[0].data(), end, value);
  if (result.ec != std::errc() || result.ptr != end) return std::nullopt;
  return value;
}

std::optional<std::string> HostFiles::line(const std::string& path, const std::string& key) const {
  std::istringstream lines(text(path).value_or(""));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t first = line.find_first_not_of(" \t:", key.size());
    if (first == std::string::npos) return "";
    return line.substr(first, line.find_last_not_of(" \t") - first + 1);
  }
  return std::nullopt;
}

std::vector<std::string> HostFiles::names(const std::string& folder) const {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at_name(at(folder), error), end; !error && at_name != end;
       at_name.increment(error)) {
    names.push_back(at_name->path().filename());
  }
  std::ranges::sort(names);
  return names;
}

std::string HostFiles::link_name(const std::string& path) const {
  std::error_code error;
  return fs::read_symlink(at(path), error).filename();
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::size_t count_of_list(const std::string& list) {
  std::istringstream parts(list);
  std::size_t count = 0;
  for (std::string part; std::getline(parts, part, ',');) {
    std::size_t first = 0, last = 0;
    char dash = 0;
    std::istringstream range(part);
    if (!(range >> first)) continue;
    count += range >> dash >> last && dash == '-' && last >= first ? last - first + 1 : 1;
  }
  return count;
}

std::vector<Mount> mounts_of(const HostFiles& host) {
  std::istringstream lines(host.text("/proc/mounts").value_or(""));
  std::vector<Mount> mounts;
  for (std::string line; std::getline(lines, line);) {
    const auto words = words_of(line);
    if (words.size() >= 4) mounts.push_back({words[1], words[2], words[3]});
  }
  return mounts;
}

}  // namespace millrace
