// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/log_lines.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>

#include "orchestration/supervisor/log_keeper.hpp"
#include "shared/base/error.hpp"
#include "shared/base/nearest.hpp"
#include "shared/base/say.hpp"
#include "shared/base/unique_fd.hpp"

namespace millrace {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kEnding = ".log";
constexpr std::uint64_t kSecond = 1'000'000'000;

std::uint64_t changed_ns(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return 0;
  return static_cast<std::uint64_t>(info.st_mtim.tv_sec) * kSecond +
         static_cast<std::uint64_t>(info.st_mtim.tv_nsec);
}

/// 0: there is none.
std::uint64_t file_number(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? info.st_ino : 0;
}

/// "front.0: text" -> "text" when it is that log's own name.
std::string_view without_name(std::string_view text, const std::string& name) {
  const std::string start = name + ": ";
  return text.starts_with(start) ? text.substr(start.size()) : text;
}

}  // namespace

LogFiles::LogFiles(const std::string& run_dir, std::vector<std::string> wanted)
    : folder_(run_dir + "/logs"), wanted_(std::move(wanted)) {
  const std::vector<std::string> there = names();
  const std::vector<std::string_view> views(there.begin(), there.end());
  for (const std::string& name : wanted_) {
    if (std::ranges::find(there, name) != there.end()) continue;
    throw Error(no_such("log of", name, views));
  }
}

std::vector<std::string> LogFiles::names() const {
  std::vector<std::string> names;
  std::error_code error;  // the topology has just ended: then there are none
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, error)) {
    if (entry.path().extension() == kEnding) names.push_back(entry.path().stem());
  }
  std::ranges::sort(names);
  return names;
}

/// An older file is new with every move: the log has gone on in it to its end.
void LogFiles::read_one(const std::string& name, std::vector<LogLine>& lines) {
  const std::string path = folder_ + "/" + name + std::string(kEnding);
  const UniqueFd lock(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (lock) ::flock(lock.get(), LOCK_SH);  // it is not moved meanwhile
  Place& place = places_[name];
  const std::string older = older_log_path(path);
  const std::uint64_t which = file_number(older);
  if (which != place.older) {
    read_file(older, name, place, lines);
    place.bytes = 0;
  }
  place.older = which;
  read_file(path, name, place, lines);
}

void LogFiles::read_file(const std::string& path, const std::string& name, Place& place,
                         std::vector<LogLine>& lines) {
  std::ifstream file(path, std::ios::binary);
  if (!file.seekg(static_cast<std::streamoff>(place.bytes))) return;
  for (std::string line; std::getline(file, line) && !file.eof();) {
    place.bytes += line.size() + 1;
    const auto said = parse_said(line);
    if (said) place.time_ns = said->time_ns;
    if (place.time_ns == 0) place.time_ns = changed_ns(path);
    lines.push_back({place.time_ns, name,
                     std::string(without_name(said ? said->rest : std::string_view(line), name))});
  }
}

std::vector<LogLine> LogFiles::read_new() {
  std::vector<LogLine> lines;
  for (const std::string& name : wanted_.empty() ? names() : wanted_) read_one(name, lines);
  std::ranges::stable_sort(lines, {}, &LogLine::time_ns);
  return lines;
}

std::uint64_t parse_since(const std::string& text, std::uint64_t now_ns) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc() && stop + 1 == end && number < 100'000'000) {
    constexpr std::pair<char, std::uint64_t> kUnits[] = {
        {'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
    for (const auto& [unit, seconds] : kUnits) {
      if (*stop == unit) return now_ns - std::min(now_ns, number * seconds * kSecond);
    }
  }
  constexpr std::string_view kRest = "0000-00-00T00:00:00.000000Z ";
  std::string whole = text.ends_with('Z') ? text.substr(0, text.size() - 1) : text;
  if (whole.size() >= std::string_view("0000-00-00").size() && whole.size() < kRest.size()) {
    whole += kRest.substr(whole.size());
    if (const auto said = parse_said(whole)) return said->time_ns;
  }
  throw Error("--since: '" + text +
              "' is no age (90s, 15m, 2h, 1d) and no time (2026-11-22T08:24:46Z)");
}

}  // namespace millrace
