// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/history.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <span>
#include <sstream>

#include "orchestration/planner/plan_sources.hpp"
#include "shared/base/error.hpp"
#include "shared/control/plan_file.hpp"
#include "shared/control/whole_file.hpp"

namespace fs = std::filesystem;

namespace millrace {
namespace {

void write_text(const std::string& path, const std::string& text) {
  write_whole_file(path, std::as_bytes(std::span(text)));
}

std::string folder_of(const std::string& source) { return hash_of_sources({source}); }

bool names_file(const PlanFunction& function, const std::string& path) {
  return std::ranges::any_of(function.settings,
                             [&](const auto& setting) { return setting.second == path; });
}

}  // namespace

std::string History::plan_path(std::uint64_t generation) const {
  return folder_ + "/" + std::to_string(generation) + ".plan";
}

std::string History::kept_path(const std::string& source) const {
  const fs::path path = path_of_source(source);
  return folder_ + "/" + folder_of(source) + "/" + path.filename().string();
}

std::uint64_t History::resume(const std::string& run_dir) const {
  const std::string from = run_dir + "/history";
  std::error_code error;
  if (!fs::exists(from, error)) return 0;
  fs::copy(from, folder_, fs::copy_options::recursive | fs::copy_options::create_hard_links, error);
  if (error) throw Error(from + " cannot be kept in " + folder_ + ": " + error.message());
  const std::vector<Entry> all = entries();
  return all.empty() ? 0 : all.back().generation;
}

void History::add(const Plan& plan, const std::string& what, std::uint64_t time_ns) const {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) throw Error("make " + folder_ + ": " + error.message());
  for (const std::string& source : plan.sources) {
    const std::string path = path_of_source(source), hash = hash_of_source(source);
    const auto needs = [&](const PlanFunction& one) { return names_file(one, path); };
    if (std::ranges::none_of(plan.functions, needs)) continue;
    const std::string kept = kept_path(source);
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
  if (first != 0) forget_files({all.begin() + static_cast<std::ptrdiff_t>(first), all.end()});
}

/// What no generation that is still there needs is not kept either.
void History::forget_files(const std::vector<Entry>& kept) const {
  std::set<std::string> needed;
  try {
    for (const Entry& one : kept) {
      const Plan plan = load_plan(plan_path(one.generation));
      for (const std::string& source : plan.sources) needed.insert(folder_of(source));
      for (const PlanFunction& function : plan.functions) {
        for (const auto& [key, value] : function.settings) {
          needed.insert(fs::path(value).parent_path().filename());
        }
      }
    }
  } catch (const Error&) {
    return;  // a supervisor that cannot be asked may need all of them
  }
  std::error_code error;
  std::vector<fs::path> others;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, error)) {
    if (entry.is_directory(error) && !needed.contains(entry.path().filename())) {
      others.push_back(entry.path());
    }
  }
  for (const fs::path& path : others) fs::remove_all(path, error);
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
    const std::string kept = kept_path(source);
    for (PlanFunction& function : plan.functions) {
      for (auto& [key, value] : function.settings) {
        if (value != path) continue;
        if (!fs::exists(kept)) {
          throw Error(path + ": it is not what it was then, and was not kept (above " +
                      std::to_string(kFileBytesMax >> 20) + " MB, or changed at once)");
        }
        value = kept;  // `source` goes on naming the file that people write: see as_written()
      }
    }
  }
  return plan;
}

Plan History::as_written(Plan plan) const {
  for (PlanFunction& function : plan.functions) {
    for (auto& [key, value] : function.settings) value = written_path(plan, value);
  }
  return plan;
}

std::string History::written_path(const Plan& plan, const std::string& path) const {
  for (const std::string& source : plan.sources) {
    if (kept_path(source) == path) return path_of_source(source);
  }
  return path;
}

}  // namespace millrace
