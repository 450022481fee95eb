// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#ifndef PCRE2_CODE_UNIT_WIDTH
#define PCRE2_CODE_UNIT_WIDTH 8
#endif
#include <pcre2.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "services/functions/ids/work_budget.hpp"

/// Regular expressions of rules, by PCRE2: of bytes, never of UTF-8.

namespace millrace {

/// What matching needs beside the expression. One thread.
class RegexScratch {
 public:
  /// Throws Error: no memory.
  RegexScratch();

  /// Suricata's defaults. PCRE2 counts the steps of each place where a match may begin, and gives
  /// up altogether at the first place that takes too many.
  static constexpr std::uint32_t kMatchLimit = 3500;
  static constexpr std::uint32_t kDepthLimit = 1500;
  /// Of PCRE2's interpreter, where there is no JIT.
  static constexpr std::uint32_t kHeapLimitKib = 4096;
  /// A text can be made that takes nearly kMatchLimit steps at each place: 5 us of a worker for one
  /// byte of a sender. So a search has kStepsOfTry steps at first, shared out among its places,
  /// kStepsMin each at least. Where these do not do, it goes on in pieces: of kPieceMax places, or
  /// of fewer that may take more each, for a unit of work each, or more by the clock:
  /// WorkShare::kUnitsMax are the MTU of Ethernet in the shortest ones. An expression that needs
  /// more is given up, and so is any where none of the packet's own are left. A first search takes
  /// units by the clock alone.
  static constexpr std::uint32_t kStepsOfTry = 1u << 16, kStepsMin = 16, kPieceMax = 1024,
                                 kPieceStep = 4;

  /// What expressions may cost from here on; borrowed. Without it they have a share of their own.
  void use(WorkShare& share) noexcept { share_ = &share; }
  /// A look takes more steps than any may: it is given up.
  void exceed() noexcept {
    has_exceeded_ = true;
    ++given_up_;
  }
  /// exceed() has been called since the last call.
  bool take_exceeded() noexcept { return std::exchange(has_exceeded_, false); }
  /// Looks that were given up since the last call, and searches for want of units.
  std::uint32_t take_given_up() noexcept { return std::exchange(given_up_, 0); }

 private:
  friend class Regex;
  template <auto kFree>
  struct Free {
    template <typename Type>
    void operator()(Type* thing) const noexcept {
      kFree(thing);
    }
  };
  std::unique_ptr<pcre2_match_context, Free<pcre2_match_context_free>> context_;
  std::unique_ptr<pcre2_match_data, Free<pcre2_match_data_free>> data_;
  std::unique_ptr<pcre2_jit_stack, Free<pcre2_jit_stack_free>> stack_;  ///< none without JIT
  void give_up() noexcept {
    share_->take(1);
    ++given_up_;
  }

  WorkShare own_share_;
  WorkShare* share_ = &own_share_;
  std::uint32_t given_up_ = 0;
  bool has_exceeded_ = false;
};

/// Where a match may lie.
struct RegexText {
  std::span<const std::byte> bytes;  ///< what `^` and `\A` take for the subject
  std::size_t from = 0;              ///< a match begins here or behind
  bool begins_here = true;           ///< there is nothing in front of `bytes`
  bool ends_here = true;             ///< nothing that counts follows them
  bool may_grow = false;             ///< bytes may follow that do not count so far
};

struct RegexMatch {
  enum class Found : std::uint8_t {
    kNo,  ///< of Regex::tells_begins(): nor does any match that begins in these bytes with others
    kYes,
    kOpen,    ///< what follows can make a match of it, or something else than the match it is
    kFailed,  ///< it ran into a limit
  } found = Found::kNo;
  std::size_t begin = 0, end = 0;              ///< in the bytes
  std::size_t group_begin = 0, group_end = 0;  ///< the first group; kNotFound: it is not in it
};

/// Compiled once; then it is not changed, so several threads may use it.
class Regex {
 public:
  /// `options`: PCRE2_CASELESS, ... `tells_begins`: of text that may grow it is to tell whether a
  /// match begins in what there is. Throws Error: what PCRE2 does not like, and where.
  Regex(const std::string& expression, std::uint32_t options, bool tells_begins = false);

  RegexMatch find(const RegexText& text, RegexScratch& scratch) const noexcept;

  std::uint32_t groups() const noexcept;
  /// It can match at the begin of a subject alone.
  bool is_anchored() const noexcept { return is_anchored_; }
  /// Whether it matches can depend on bytes behind the match: `$`, `\b`, `\z`, `(?=`, ...
  bool minds_what_follows() const noexcept { return minds_what_follows_; }
  bool has_jit() const noexcept { return has_jit_; }
  bool tells_begins() const noexcept { return tells_begins_; }

 private:
  struct FreeCode {
    void operator()(pcre2_code* code) const noexcept { pcre2_code_free(code); }
  };
  /// Where a match may begin, and how many steps PCRE2 may take at each of these places.
  struct Try {
    std::size_t from, places;
    std::uint32_t steps;
  };
  int match(const RegexText& text, std::uint32_t options, const Try& one,
            RegexScratch& scratch) const noexcept;
  int match_in_pieces(const RegexText& text, std::uint32_t options, RegexScratch& scratch,
                      std::uint64_t now_ns) const noexcept;

  std::unique_ptr<pcre2_code, FreeCode> code_;
  bool is_anchored_ = false, minds_what_follows_ = false, has_jit_ = false;
  bool has_pieces_ = false;  ///< a search that begins further behind finds the same
  bool tells_begins_ = false;
};

}  // namespace millrace
