// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "orchestration/supervisor/oom_watch.hpp"
#include "orchestration/supervisor/post.hpp"
#include "orchestration/supervisor/run_dir.hpp"
#include "orchestration/supervisor/status_source.hpp"
#include "shared/base/unique_fd.hpp"
#include "shared/control/messages.hpp"
#include "shared/recovery/leader_watch.hpp"

namespace millrace {

/// Where the programs are and where they run.
struct FleetPlace {
  std::string folder;  ///< of the executables
  std::string run_dir;
  RestartLimits limits;
};

/// All processes of a topology: starts, reaps, restarts and ends them. Knows nothing of packets or
/// of the control plane. One thread; every call but stop() returns at once.
class Fleet {
 public:
  using Tell = std::function<void(Event)>;

  /// Starts nothing. `plan` is borrowed; `tell` gets what happened.
  Fleet(const Plan& plan, FleetPlace place, Tell tell);

  /// From now on each process that moves packets is handed this file, and the hub makes the segment
  /// of it.
  void use_segment(UniqueFd file) { segment_ = std::move(file); }

  /// From now on entries of the status file say what may start. Throws Error when it is not there.
  void attach_status();
  const StatusSource* status() const { return status_.get(); }
  ActorState state(std::uint32_t actor) const;
  /// Of all actors of its process: theirs when they agree, else starting.
  ActorState state(const Seat& seat) const;

  std::vector<Post>& posts() { return posts_; }
  const std::vector<Post>& posts() const { return posts_; }
  /// How long ago a seat's process last gave a sign of life, in ms; nothing: it has given none.
  std::optional<std::uint64_t> heartbeat_age_ms(const Post& post, const Seat& seat,
                                                std::uint32_t actor) const;

  /// The post of the first actor of that kind (hub, standby).
  Post& post_of(ActorKind kind);

  /// Of the actor that the post's current seat plays; the post's own for an
  /// observer.
  const std::string& name_of(const Post& post) const;

  /// Starts the post's process in its current seat, and wants it from now on. Throws Error.
  void start(Post& post);
  /// Starts, from `folder`, the process that takes the current seat when its own has ended. Throws
  /// Error.
  void start_successor(Post& post, const std::string& folder);
  /// From now on; for posts without a folder of their own.
  void use_folder(std::string folder) { place_.folder = std::move(folder); }
  const std::string& folder_of(const Post& post) const {
    return post.folder.empty() ? place_.folder : post.folder;
  }
  /// Takes over a process that an earlier supervisor started. The caller sets Post::wish. When two
  /// processes play one actor, the older one takes the seat.
  void adopt(const FoundProcess& found);
  /// Notes what has ended.
  void reap();
  /// Starts again what may be, and ends what drains for too long.
  void tend();
  /// The workers of this post leave: the hub has been asked to drain; its process is ended when it
  /// has not by itself in `grace`.
  void let_drain(Post& post, std::chrono::milliseconds grace);
  /// Of an ingress that will not start again: hub and standby close the sockets that it read.
  /// May take moments.
  void give_up_queue(const Post& post) const;
  /// SIGTERM to all posts that `which` picks, SIGKILL to those that are left after `grace`, and
  /// waits for their ends.
  void stop(const std::function<bool(const Post&)>& which, std::chrono::milliseconds grace);

  /// Readable when a process ends.
  std::vector<int> descriptors() const;
  /// Something waits for time to pass or for an entry to become vacant.
  bool is_busy() const;
  std::size_t process_count() const;

 private:
  using Clock = std::chrono::steady_clock;

  void report_end(Post& post, Seat& seat, const ExitStatus& end);
  std::string text_of(const ExitStatus& end);
  void reap(Post& post, Seat& seat);
  Command command_of(const Post& post, const std::string& folder) const;
  void tend_draining(Post& post, Clock::time_point now);
  bool hangs_at_its_start(const Post& post, Clock::time_point now) const;
  void tend_wanted(Post& post, Clock::time_point now);
  void tend_leader(Post& post);
  void tend_observer(const Post& post, Clock::time_point now);
  LeaderWatch new_watch() const;
  void say(Severity severity, const char* kind, const Seat& seat, const std::string& text,
           std::uint64_t number = 0) const;
  bool any_running(const std::function<bool(const Post&)>& which);

  const Plan& plan_;
  FleetPlace place_;
  Tell tell_;
  UniqueFd segment_;
  std::unique_ptr<StatusSource> status_;
  std::vector<Post> posts_;
  LeaderWatch hub_watch_, standby_watch_;
  /// A process that the leader does not watch.
  struct Observer {
    LeaderWatch watch;
    pid_t killed = 0;  ///< as it hung
  };
  std::map<std::string, Observer> observers_;  ///< by the post's name
  OomWatch memory_;
};

}  // namespace millrace
