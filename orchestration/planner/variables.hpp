// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

/// What `${...}` in a scalar of a topology file stands for:
///
/// | written                  | is                                                             |
/// |--------------------------|----------------------------------------------------------------|
/// | `${NAME}`                | the value that `vars:` gives NAME                              |
/// | `${env:NAME}`            | the environment variable NAME; no other is ever looked at      |
/// | `${file:PATH}`           | the one line of a file that others cannot read: a secret       |
/// | `${NAME:-DEFAULT}`       | NAME (or env:NAME) where there is one, else DEFAULT            |
/// | `$${`                    | `${` itself                                                    |
///
/// A secret may only become the text of a port's, group's or function's own setting, and no message
/// and no output shows it.

namespace millrace {

inline constexpr std::size_t kSecretBytesMax = 4096;
inline constexpr std::size_t kExpandedBytesMax = 65536;  ///< of a scalar

/// Reads a file for the configuration: a regular one, of at most `bytes_max` bytes; `secret`:
/// others may not be able to read it. Throws Error that says what is wrong. Tests put their own in.
using ReadFile = std::function<std::string(const std::filesystem::path& path, std::size_t bytes_max,
                                           bool secret)>;
std::string read_config_file(const std::filesystem::path& path, std::size_t bytes_max, bool secret);

struct Expansion {
  std::string text;
  bool secret = false;  ///< some of it came from a file
};

/// Why a text cannot be expanded. `found` is empty when that has been said elsewhere.
struct ExpansionError {
  std::size_t at = 0;  ///< where its `${` stands in the text
  std::string found, allowed, nearest;
};

/// The variables of a topology and how to expand a text with them.
class Variables {
 public:
  explicit Variables(ReadFile read_file) : read_file_(std::move(read_file)) {}

  static bool mentioned_in(std::string_view text) { return text.find("${") != text.npos; }

  /// `evaluate`: gives the value, called at most once, when it is needed first; nothing: the
  /// value was refused, and why has been said.
  using Evaluate = std::function<std::optional<Expansion>()>;
  void define(const std::string& name, Evaluate evaluate);
  void evaluate_all();

  /// `folder`: where relative names of files start. Nothing: see `error`.
  std::optional<Expansion> expand(const std::string& text, const std::filesystem::path& folder,
                                  ExpansionError& error);

  const ReadFile& read_file() const { return read_file_; }

 private:
  struct Variable {
    Evaluate evaluate;
    std::optional<Expansion> value;
    enum class State { kNew, kBusy, kDone } state = State::kNew;
  };
  bool look_up(std::string_view inner, const std::filesystem::path& folder, Expansion& out,
               ExpansionError& error);
  bool look_up_variable(const std::string& name, const std::optional<std::string>& fallback,
                        Expansion& out, ExpansionError& error);
  bool look_up_file(const std::string& name, const std::filesystem::path& folder, Expansion& out,
                    ExpansionError& error);
  std::map<std::string, Variable> variables_;
  ReadFile read_file_;
};

}  // namespace millrace
