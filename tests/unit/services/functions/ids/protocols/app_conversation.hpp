// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "services/functions/ids/protocols/app_session.hpp"
#include "tests/unit/services/functions/ids/protocols/app_recorder.hpp"

/// Two sides of a flow that speak in turns, through sessions that are given up at any time and made
/// anew from the bytes that are not settled.

namespace millrace {

struct AppSpeech {
  std::uint8_t direction;
  std::string text;
  bool ends = false;  ///< nothing of this direction follows
};

class AppConversation {
 public:
  explicit AppConversation(std::uint16_t port, const AppLimits& limits = {})
      : port_(port), limits_(limits), session_(std::make_unique<AppSession>(limits)) {}

  void speak(const AppSpeech& speech) {
    heard_.push_back(speech);
    deliver(speech);
  }

  /// The session is lost. What it has told stays told.
  void lose_session() {
    if (session_->is_done()) return;  // its owner remembers that
    const std::array<std::uint64_t, 2> settled = {session_->settled(0), session_->settled(1)};
    is_at_begin_ = is_at_begin_ && settled == std::array<std::uint64_t, 2>{};
    auto next =
        session_->protocol() == AppProtocol::kUnknown ||
                (session_->transactions() == 0 && is_at_begin_)
            ? std::make_unique<AppSession>(limits_)
            : std::make_unique<AppSession>(limits_, session_->protocol(), session_->transactions());
    forget(settled);
    session_ = std::move(next);
    given_ = {};
    for (const AppSpeech& speech : heard_) deliver(speech);
  }

  AppSession& session() { return *session_; }
  /// Bytes that this session was given.
  std::uint64_t given(std::uint8_t direction) const { return given_[direction]; }
  AppRecorder& told() { return told_; }

 private:
  void deliver(const AppSpeech& speech) {
    given_[speech.direction] += speech.text.size();
    session_->read(speech.direction, app_bytes(speech.text), port_, told_);
    if (speech.ends) session_->end(speech.direction, told_);
  }

  void forget(std::array<std::uint64_t, 2> bytes) {
    for (AppSpeech& speech : heard_) {
      const std::size_t gone = std::min<std::uint64_t>(bytes[speech.direction], speech.text.size());
      speech.text.erase(0, gone);
      bytes[speech.direction] -= gone;
    }
    std::erase_if(heard_, [](const AppSpeech& s) { return s.text.empty() && !s.ends; });
  }

  std::uint16_t port_;
  AppLimits limits_;
  std::unique_ptr<AppSession> session_;
  AppRecorder told_;
  std::vector<AppSpeech> heard_;  ///< not settled
  std::array<std::uint64_t, 2> given_{};
  bool is_at_begin_ =
      true;  ///< all bytes are there still: none was settled when a session was lost
};

}  // namespace millrace
