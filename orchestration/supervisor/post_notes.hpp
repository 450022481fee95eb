// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "orchestration/supervisor/note_keeper.hpp"
#include "orchestration/supervisor/post.hpp"

/// What a supervisor wants of its posts, kept for a successor should it be killed:
///
///     <run dir>/supervisor.posts   a line a post: name, wish, restarts, how its last process ended

namespace millrace {

struct PostNote {
  std::string name;
  Wish wish = Wish::kDown;
  std::uint32_t restarts = 0;
  std::string end;  ///< Seat::note of the seat that played it last
  friend bool operator==(const PostNote&, const PostNote&) = default;
};

/// All that was noted. Empty when there is no such file; lines that make no sense are left out.
std::vector<PostNote> read_post_notes(const std::string& run_dir);

/// Gives posts the wishes and restart counts that were noted for them. Posts without a note keep
/// theirs. A post that was draining goes on as Wish::kDown: the process that still plays it has to
/// be told.
void restore_posts(const std::vector<PostNote>& notes, std::vector<Post>& posts);

/// Writes the notes whenever one has changed. One thread.
class PostNoter {
 public:
  void tend(const std::string& run_dir, const std::vector<Post>& posts);

 private:
  NoteKeeper<std::vector<PostNote>> noted_;
};

}  // namespace millrace
