// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/event_history.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "shared/base/error.hpp"
#include "shared/base/unique_fd.hpp"
#include "shared/base/whole_file.hpp"

namespace millrace {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 20;

struct Opened {
  std::string path;
  UniqueFd file;
  ino_t inode = 0;
};

/// The newest one first: a file that is renamed meanwhile is met once more, and known by its inode.
std::vector<Opened> open_all(const PlanEvents& events) {
  std::vector<Opened> all;
  for (std::uint32_t number = 0; number <= events.keep; ++number) {
    std::string path = events.file;
    if (number != 0) path += "." + std::to_string(number);
    if (::access(path.c_str(), F_OK) != 0) continue;
    UniqueFd file = open_regular_file(path);
    struct stat info {};
    if (::fstat(file.get(), &info) != 0) throw system_error("stat " + path, errno);
    if (std::ranges::count(all, info.st_ino, &Opened::inode) != 0) continue;
    all.push_back({std::move(path), std::move(file), info.st_ino});
  }
  return all;
}

void visit_lines(const Opened& opened, const std::function<void(const std::string&)>& visit) {
  std::string text, line, block(kBlockBytes, '\0');
  for (;;) {
    const ssize_t bytes = ::read(opened.file.get(), block.data(), block.size());
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) throw system_error("read " + opened.path, errno);
    if (bytes == 0) return;
    text.append(block, 0, static_cast<std::size_t>(bytes));
    std::size_t begin = 0;
    for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
      line.assign(text, begin, end - begin);
      visit(line);
    }
    text.erase(0, begin);
  }
}

}  // namespace

void visit_event_files(const Plan& plan, const std::function<void(const std::string&)>& visit) {
  if (!plan.events || plan.events->file.empty()) {
    throw Error("topology '" + plan.name +
                "' keeps no file of events: its section `events` needs `file: PATH`, and a "
                "restart" +
                (plan.events ? "; --follow shows what comes" : ""));
  }
  std::vector<Opened> all = open_all(*plan.events);
  if (all.empty()) throw Error(plan.events->file + ": No such file; it was moved away");
  std::ranges::reverse(all);  // from the oldest one on
  for (const Opened& opened : all) visit_lines(opened, visit);
}

}  // namespace millrace
