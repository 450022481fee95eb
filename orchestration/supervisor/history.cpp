// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/history.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>

#include "shared/base/error.hpp"
#include "shared/config/plan_sources.hpp"
#include "shared/control/plan_file.hpp"
#include "shared/control/whole_file.hpp"

namespace fs = std::filesystem;

namespace millrace {
namespace {

void write_text(const std::string& path, const std::string& text) {
  write_whole_file(path, std::as_bytes(std::span(text)));
}

bool names_file(const PlanFunction& function, const std::string& path) {
  return std::ranges::any_of(function.settings,
                             [&](const auto& setting) { return setting.second == path; });
}

}  // namespace

std::string History::plan_path(std::uint64_t generation) const {
  return folder_ + "/" + std::to_string(generation) + ".plan";
}

std::string History::kept_path(const std::string& hash, const std::string& path) const {
  return folder_ + "/" + hash + "/" + fs::path(path).filename().string();
}

void History::add(const Plan& plan, const std::string& what, std::uint64_t time_ns) const {
  fs::create_directories(folder_);
  for (const std::string& source : plan.sources) {
    const std::string path = path_of_source(source), hash = hash_of_source(source);
    const auto needs = [&](const PlanFunction& one) { return names_file(one, path); };
    if (std::ranges::none_of(plan.functions, needs)) continue;
    std::error_code error;
    const std::string kept = kept_path(hash, path);
    if (fs::exists(kept, error) || fs::file_size(path, error) > kFileBytesMax || error) continue;
    fs::create_directories(fs::path(kept).parent_path(), error);
    fs::copy_file(path, kept, error);
    if (error || hash_of_file(kept) != hash) fs::remove(kept, error);  // it changed meanwhile
  }
  save_plan(plan, plan_path(plan.generation));
  std::vector<Entry> all = entries();
  std::erase_if(all, [&](const Entry& one) { return one.generation >= plan.generation; });
  all.push_back({plan.generation, time_ns, plan.hash.empty() ? "-" : plan.hash, what});
  forget_old(all);
  const std::size_t first = all.size() > kGenerationsKept ? all.size() - kGenerationsKept : 0;
  std::ostringstream text;
  for (std::size_t i = first; i < all.size(); ++i) {
    std::string line = all[i].what;
    std::ranges::replace(line, '\n', ' ');
    text << all[i].generation << ' ' << all[i].time_ns << ' ' << all[i].hash << ' ' << line << '\n';
  }
  write_text(folder_ + "/list", text.str());
}

void History::forget_old(const std::vector<Entry>& entries) const {
  std::error_code error;
  for (std::size_t i = 0; i + kGenerationsKept < entries.size(); ++i) {
    fs::remove(plan_path(entries[i].generation), error);
  }
}

std::vector<History::Entry> History::entries() const {
  std::vector<Entry> entries;
  std::ifstream file(folder_ + "/list");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    Entry entry;
    if (!(words >> entry.generation >> entry.time_ns >> entry.hash)) continue;
    std::getline(words >> std::ws, entry.what);
    entries.push_back(std::move(entry));
  }
  return entries;
}

Plan History::plan_of(std::uint64_t generation) const {
  const std::vector<Entry> all = entries();
  if (std::ranges::find(all, generation, &Entry::generation) == all.end()) {
    throw Error("no generation " + std::to_string(generation) + "; there are " +
                (all.empty() ? "none"
                             : std::to_string(all.front().generation) + " to " +
                                   std::to_string(all.back().generation)));
  }
  Plan plan = load_plan(plan_path(generation));
  for (std::string& source : plan.sources) {
    const std::string path = path_of_source(source), hash = hash_of_source(source);
    if (hash_of_file(path) == hash) continue;
    const std::string kept = kept_path(hash, path);
    for (PlanFunction& function : plan.functions) {
      for (auto& [key, value] : function.settings) {
        if (value != path) continue;
        if (!fs::exists(kept)) {
          throw Error(path + ": it is not what it was then, and was not kept (above " +
                      std::to_string(kFileBytesMax >> 20) + " MB, or changed at once)");
        }
        value = kept;
        source = hash + " " + kept;
      }
    }
  }
  return plan;
}

void History::set_deadline(std::optional<Deadline> deadline) const {
  const std::string path = folder_ + "/deadline";
  std::error_code error;
  if (!deadline) {
    fs::remove(path, error);
    return;
  }
  write_text(path, std::to_string(deadline->time_ns) + " " + std::to_string(deadline->generation));
}

std::optional<History::Deadline> History::deadline() const {
  std::ifstream file(folder_ + "/deadline");
  Deadline deadline;
  if (!(file >> deadline.time_ns >> deadline.generation)) return std::nullopt;
  return deadline;
}

}  // namespace millrace
