// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "orchestration/supervisor/post.hpp"
#include "shared/control/run_state.hpp"

/// What the state of a run says of posts.

namespace millrace {

/// One a post. Of a post that is draining, and of an upgrade's helper, no process is wanted.
std::vector<PostState> states_of(const std::vector<Post>& posts);

/// Gives posts the wishes, restart counts and ends that were noted for them. Posts without a state
/// keep theirs. A post that was draining goes on as Wish::kDown: the process that still plays it
/// has to be told.
void restore_posts(const std::vector<PostState>& states, std::vector<Post>& posts);

/// Workers of each group that should run, by the wishes of their posts; ingresses and egresses.
std::vector<WantedWorkers> wanted_workers(const Plan& plan, const std::vector<Post>& posts);

}  // namespace millrace
