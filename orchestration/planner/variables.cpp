// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/planner/variables.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <utility>
#include <vector>

#include "orchestration/planner/problem.hpp"
#include "shared/base/error.hpp"
#include "shared/base/nearest.hpp"
#include "shared/base/unique_fd.hpp"

namespace millrace {
namespace {

constexpr std::string_view kDefaultMark = ":-";

bool look_up_environment(const std::string& name, const std::optional<std::string>& fallback,
                         Expansion& out, ExpansionError& error) {
  if (const char* value = std::getenv(name.c_str()); value != nullptr) {
    out.text += value;
    return true;
  }
  if (fallback) {
    out.text += *fallback;
    return true;
  }
  std::vector<std::string_view> names;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    names.push_back(text.substr(0, text.find('=')));
  }
  error.found = "environment variable '" + shown(name) + "', which is not set";
  error.allowed = "one that is set, or '${env:" + shown(name) + ":-DEFAULT}'";
  error.nearest = nearest_of(name, names);
  return false;
}

}  // namespace

std::string read_config_file(const std::filesystem::path& path, std::size_t bytes_max,
                             bool secret) {
  // Not blocking: a pipe without a writer is refused, not waited for.
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) throw system_error("read it", errno);
  struct stat info {};
  if (fstat(file.get(), &info) != 0) throw system_error("read it", errno);
  if (!S_ISREG(info.st_mode)) throw Error("it is no file");
  if (secret && (info.st_mode & S_IRWXO) != 0) {
    throw Error("others can read it: chmod o= " + path.string());
  }
  std::string text(bytes_max + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t count = ::read(file.get(), text.data() + size, text.size() - size);
    if (count < 0) throw system_error("read it", errno);
    if (count == 0) break;
    size += static_cast<std::size_t>(count);
  }
  if (size > bytes_max) throw Error("it has more than " + std::to_string(bytes_max) + " bytes");
  text.resize(size);
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";  // would be part of a secret
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  return text;
}

void Variables::define(const std::string& name, Evaluate evaluate) {
  variables_.emplace(name, Variable{.evaluate = std::move(evaluate), .value = {}});
}

void Variables::evaluate_all() {
  for (auto& [name, variable] : variables_) {
    Expansion ignored;
    ExpansionError error;
    look_up_variable(name, std::nullopt, ignored, error);
  }
}

bool Variables::look_up_variable(const std::string& name,
                                 const std::optional<std::string>& fallback, Expansion& out,
                                 ExpansionError& error) {
  const auto found = variables_.find(name);
  if (found == variables_.end()) {
    if (fallback) {
      out.text += *fallback;
      return true;
    }
    std::vector<std::string_view> names;
    for (const auto& [known, variable] : variables_) names.push_back(known);
    error.found = "variable '" + shown(name) + "', which 'vars' does not have";
    error.allowed = names.empty() ? "'${" + shown(name) + ":-DEFAULT}', or a section 'vars'"
                                  : comma_list(names);
    error.nearest = nearest_of(name, names);
    return false;
  }
  Variable& variable = found->second;
  if (variable.state == Variable::State::kBusy) {
    error.found = "variable '" + name + "', which needs itself";
    error.allowed = "variables that need others only";
    return false;
  }
  if (variable.state == Variable::State::kNew) {
    variable.state = Variable::State::kBusy;
    variable.value = variable.evaluate();
    variable.state = Variable::State::kDone;
  }
  if (!variable.value) return false;
  out.text += variable.value->text;
  out.secret = out.secret || variable.value->secret;
  return true;
}

bool Variables::look_up_file(const std::string& name, const std::filesystem::path& folder,
                             Expansion& out, ExpansionError& error) {
  const std::filesystem::path path = (folder / name).lexically_normal();
  error.allowed = "a file of one line that others cannot read";
  try {
    std::string text = read_file_(path, kSecretBytesMax, true);
    if (text.ends_with('\n')) text.pop_back();
    if (text.ends_with('\r')) text.pop_back();
    if (text.empty()) throw Error("it is empty");
    if (text.find_first_of(std::string_view("\n\0", 2)) != text.npos) {
      throw Error("it has more than one line");
    }
    out.text += text;
    out.secret = true;
    return true;
  } catch (const Error& why) {
    error.found = "file '" + path.string() + "' (" + why.what() + ")";
    return false;
  }
}

bool Variables::look_up(std::string_view inner, const std::filesystem::path& folder, Expansion& out,
                        ExpansionError& error) {
  constexpr std::string_view kEnv = "env:";
  constexpr std::string_view kFile = "file:";
  if (inner.starts_with(kFile) && inner.size() > kFile.size()) {
    return look_up_file(std::string(inner.substr(kFile.size())), folder, out, error);
  }
  if (inner.find("${") != inner.npos) {
    error.found = "'${' inside of '${" + shown(std::string(inner)) + "}'";
    error.allowed = "a variable of 'vars' for it: one does not stand inside of another";
    return false;
  }
  const std::size_t mark = inner.find(kDefaultMark);
  std::optional<std::string> fallback;
  if (mark != inner.npos) fallback = std::string(inner.substr(mark + kDefaultMark.size()));
  std::string name(inner.substr(0, mark));
  const bool environment = name.starts_with(kEnv);
  if (environment) name.erase(0, kEnv.size());
  const auto fits = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; };
  if (name.empty() || !std::all_of(name.begin(), name.end(), fits)) {
    error.found = "'${" + shown(std::string(inner)) + "}'";
    error.allowed = "${NAME}, ${NAME:-DEFAULT}, ${env:NAME}, ${file:PATH}; '$${' for '${' itself";
    return false;
  }
  return environment ? look_up_environment(name, fallback, out, error)
                     : look_up_variable(name, fallback, out, error);
}

std::optional<Expansion> Variables::expand(const std::string& text,
                                           const std::filesystem::path& folder,
                                           ExpansionError& error) {
  Expansion out;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t open = text.find("${", at);
    if (open == text.npos) break;
    out.text.append(text, at, open - at);
    if (open > at && text[open - 1] == '$') {
      out.text += '{';  // the '$' in front is there
      at = open + 2;
      continue;
    }
    error = {.at = open, .found = {}, .allowed = {}, .nearest = {}};
    const std::size_t close = text.find('}', open);
    if (close == text.npos) {
      error.found = "'" + shown(text.substr(open)) + "' without '}'";
      error.allowed = "${NAME}, ${NAME:-DEFAULT}, ${env:NAME}, ${file:PATH}";
      return std::nullopt;
    }
    if (!look_up(std::string_view(text).substr(open + 2, close - open - 2), folder, out, error)) {
      return std::nullopt;
    }
    if (out.text.size() > kExpandedBytesMax) {
      error.found = "more than " + std::to_string(kExpandedBytesMax) + " bytes with all variables";
      return std::nullopt;
    }
    at = close + 1;
  }
  if (at < text.size()) out.text.append(text, at);
  return out;
}

}  // namespace millrace
