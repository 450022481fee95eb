// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/post_notes.hpp"

#include <algorithm>
#include <fstream>
#include <span>
#include <sstream>

#include "shared/control/whole_file.hpp"

namespace millrace {
namespace {

constexpr const char* kWishNames[] = {"down", "up", "draining"};

std::string notes_path(const std::string& run_dir) { return run_dir + "/supervisor.posts"; }

std::vector<PostNote> notes_of(const std::vector<Post>& posts) {
  std::vector<PostNote> notes;
  notes.reserve(posts.size());
  for (const Post& post : posts) {
    const Wish wish = post.helper ? Wish::kDown : post.wish;
    notes.push_back({post.name, wish, post.policy.restarts(), post.seat().note});
  }
  return notes;
}

void write_notes(const std::string& run_dir, const std::vector<PostNote>& notes) {
  std::ostringstream text;
  for (const PostNote& one : notes) {
    text << one.name << ' ' << kWishNames[static_cast<std::size_t>(one.wish)] << ' ' << one.restarts
         << ' ' << one.end << '\n';
  }
  const std::string bytes = text.str();
  write_whole_file(notes_path(run_dir), std::as_bytes(std::span(bytes)));
}

}  // namespace

std::vector<PostNote> read_post_notes(const std::string& run_dir) {
  std::vector<PostNote> notes;
  std::ifstream file(notes_path(run_dir));
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    PostNote one;
    std::string wish;
    if (!(words >> one.name >> wish >> one.restarts)) continue;
    const auto* const at = std::ranges::find(kWishNames, wish);
    if (at == std::end(kWishNames)) continue;
    one.wish = static_cast<Wish>(at - std::begin(kWishNames));
    std::getline(words >> std::ws, one.end);
    notes.push_back(std::move(one));
  }
  return notes;
}

void restore_posts(const std::vector<PostNote>& notes, std::vector<Post>& posts) {
  for (Post& post : posts) {
    const auto at = std::ranges::find(notes, post.name, &PostNote::name);
    if (at == notes.end()) continue;
    post.wish = at->wish == Wish::kUp ? Wish::kUp : Wish::kDown;
    post.policy.resume(at->restarts);
    post.seat().note = at->end;
  }
}

void PostNoter::tend(const std::string& run_dir, const std::vector<Post>& posts) {
  noted_.keep(notes_of(posts),
              [&](const std::vector<PostNote>& notes) { write_notes(run_dir, notes); });
}

}  // namespace millrace
