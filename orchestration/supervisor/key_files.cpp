// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/supervisor/key_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <span>
#include <sstream>

#include "orchestration/planner/variables.hpp"
#include "shared/base/error.hpp"
#include "shared/base/unique_fd.hpp"
#include "shared/control/whole_file.hpp"

namespace millrace {
namespace {

constexpr std::size_t kFileBytesMax = std::size_t{1} << 16;  // a thousand clients

Error already_there(const std::string& path) {
  return Error(path + " is there already; a key is never overwritten: name another file");
}

void write_new(const std::string& path, mode_t mode, const std::string& text) {
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  if (!file && errno == EEXIST) {
    throw already_there(path);
  }
  if (!file || ::fchmod(file.get(), mode) != 0) throw system_error("write " + path, errno);
  write_all(file.get(), std::as_bytes(std::span(text)), path);
}

/// The keys of a file, all of which have to be of the half `word`.
std::vector<std::string> read_keys(const std::string& path, const std::string& word) {
  const bool secret = word == "secret";
  std::istringstream text(while_doing(
      "key file " + path, [&] { return read_config_file(path, kFileBytesMax, secret); }));
  std::vector<std::string> keys;
  std::size_t number = 0;
  for (std::string line; std::getline(text, line);) {
    ++number;
    std::istringstream words(line);
    std::string which, key;
    if (!(words >> which) || which == "#") continue;
    words >> key;
    const std::string place = path + ":" + std::to_string(number) + ": ";
    if (which != word && (which == "secret" || which == "public")) {
      throw Error(place + "a " + which + " key where a " + word +
                  " one belongs: " + (secret ? "the file without .pub" : "the file with .pub"));
    }
    if (which != word || !is_curve_key(key)) {
      throw Error(place + "no line '" + word + " KEY' as `millrace keys FILE` writes it");
    }
    keys.push_back(key);
  }
  if (keys.empty()) throw Error(path + ": no " + word + " key in it; millrace keys FILE makes one");
  return keys;
}

}  // namespace

void write_key_files(const std::string& path, const std::string& note) {
  const CurveKeys keys = make_curve_keys();
  if (::access((path + ".pub").c_str(), F_OK) == 0) {
    throw already_there(path + ".pub");
  }
  write_new(path, 0600,
            "# Millrace control: keep it to yourself\nsecret " + keys.secret_key + "\n");
  write_new(path + ".pub", 0644, "public " + keys.public_key + " " + note + "\n");
}

CurveKeys read_secret_key(const std::string& path) {
  const std::vector<std::string> keys = read_keys(path, "secret");
  if (keys.size() != 1) throw Error(path + ": more than one secret key");
  return curve_keys_of(keys.front());
}

std::vector<std::string> read_public_keys(const std::string& path) {
  return read_keys(path, "public");
}

}  // namespace millrace
