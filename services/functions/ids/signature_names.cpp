// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "services/functions/ids/signature_names.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>

#include "shared/base/error.hpp"
#include "shared/base/unique_fd.hpp"
#include "shared/base/whole_file.hpp"

namespace millrace {
namespace {

constexpr std::size_t kFieldsMin = 6;  ///< gid to class

std::uint64_t key_of(std::uint32_t gid, std::uint32_t sid) {
  return std::uint64_t{gid} << 32 | sid;
}

void put_field(std::string_view text, std::string& out) {
  if (!out.empty() && out.back() != '\n') out += '\t';
  for (const char one : text) {
    if (one == '\t') {
      out += "\\t";
    } else if (one == '\n') {
      out += "\\n";
    } else {
      if (one == '\\') out += '\\';
      out += one;
    }
  }
}

std::string text_of_field(std::string_view field) {
  std::string text;
  for (std::size_t i = 0; i < field.size(); ++i) {
    if (field[i] != '\\' || i + 1 == field.size()) {
      text += field[i];
      continue;
    }
    ++i;
    if (field[i] == 't') {
      text += '\t';
    } else {
      text += field[i] == 'n' ? '\n' : field[i];
    }
  }
  return text;
}

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  for (;;) {
    const std::size_t end = line.find('\t');
    fields.push_back(line.substr(0, end));
    if (end == std::string_view::npos) return fields;
    line.remove_prefix(end + 1);
  }
}

template <typename Number>
bool parse(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

SignatureName name_of_line(std::string_view line) {
  const auto fields = fields_of(line);
  SignatureName name;
  if (fields.size() < kFieldsMin || (fields.size() - kFieldsMin) % 2 != 0 ||
      !parse(fields[0], name.gid) || !parse(fields[1], name.sid) ||
      !parse(fields[2], name.revision) || !parse(fields[3], name.priority)) {
    throw Error("expected gid, sid, revision, priority, message, class, and pairs of metadata");
  }
  name.message = text_of_field(fields[4]);
  name.classification = text_of_field(fields[5]);
  for (std::size_t i = kFieldsMin; i < fields.size(); i += 2) {
    name.metadata.emplace_back(text_of_field(fields[i]), text_of_field(fields[i + 1]));
  }
  return name;
}

void write_all_of(int file, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t wrote = ::write(file, text.data(), text.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) throw system_error("write " + path, errno);
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
}

void replace_file(const std::string& path, std::string_view text) {
  const std::string draft = path + ".tmp." + std::to_string(::getpid());
  const UniqueFd file(::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file) throw system_error("create " + draft, errno);
  try {
    write_all_of(file.get(), text, draft);
    if (std::rename(draft.c_str(), path.c_str()) != 0) {
      throw system_error("rename " + draft + " to " + path, errno);
    }
  } catch (const Error&) {
    ::unlink(draft.c_str());
    throw;
  }
}

}  // namespace

void write_signature_names(const std::string& path, std::span<const Signature> signatures) {
  std::string text(kSignatureNamesHead);
  for (const Signature& one : signatures) {
    for (const std::uint32_t number :
         {one.gid, one.sid, one.revision, std::uint32_t{one.priority}}) {
      put_field(std::to_string(number), text);
    }
    put_field(one.message, text);
    put_field(one.classification, text);
    for (const auto& [key, value] : one.metadata) {
      put_field(key, text);
      put_field(value, text);
    }
    text += '\n';
  }
  if (text.size() > kSignatureNamesBytesMax) {
    throw Error(path + ": names of signatures take " + std::to_string(text.size()) + " bytes, of " +
                std::to_string(kSignatureNamesBytesMax));
  }
  replace_file(path, text);
}

SignatureNames::SignatureNames(const std::string& path) {
  const std::string text = whole_file(path, kSignatureNamesBytesMax);
  std::string_view rest = text;
  if (!rest.starts_with(kSignatureNamesHead)) throw Error(path + ": no file of signature names");
  rest.remove_prefix(kSignatureNamesHead.size());
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    const auto number = static_cast<std::uint32_t>(names_.size());
    const std::string place = path + ":" + std::to_string(number + 2);
    if (end == std::string_view::npos) throw Error(place + ": the line is cut off");
    SignatureName name = while_doing(place, [&] { return name_of_line(rest.substr(0, end)); });
    name.number = number;
    places_.emplace(key_of(name.gid, name.sid), number);
    names_.push_back(std::move(name));
    rest.remove_prefix(end + 1);
  }
}

const SignatureName* SignatureNames::find(std::uint32_t gid, std::uint32_t sid) const noexcept {
  const auto at = places_.find(key_of(gid, sid));
  return at == places_.end() ? nullptr : &names_[at->second];
}

}  // namespace millrace
