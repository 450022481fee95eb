// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/planner/include.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "orchestration/planner/keys.hpp"
#include "shared/base/error.hpp"

namespace millrace {
namespace {

namespace fs = std::filesystem;

/// Where a file was included; of the first one: the file itself.
struct Included {
  fs::path path;  ///< absolute
  SourceMark by;
};

class Reader {
 public:
  Reader(Variables& variables, Problems& problems) : variables_(variables), problems_(problems) {}

  std::optional<YamlMap> read(std::string text, const std::string& file, const SourceMark& by);

 private:
  void include(const YamlValue& name, YamlMap& front);
  bool may_include(const YamlValue& name, const std::string& written, const fs::path& path);

  Variables& variables_;
  Problems& problems_;
  std::vector<Included> read_;  ///< all so far
  std::vector<fs::path> open_;  ///< those that include the present one, and itself
};

void check_version(const YamlMap& map, bool needed) {
  const YamlValue* version = needed
                                 ? map.need("millrace", "'millrace: 1', the version of the format")
                                 : map.find("millrace");
  if (version != nullptr) version->integer(1, 1);
}

std::optional<YamlMap> Reader::read(std::string text, const std::string& file,
                                    const SourceMark& by) {
  const bool first = open_.empty();
  const auto document = parse_yaml(std::move(text), file, problems_, &variables_);
  if (!document) return std::nullopt;
  YamlMap map(*document, first ? "a map with 'millrace', 'ports' and 'paths'"
                               : "a map of sections like 'ports' and 'paths'");
  std::vector<std::string_view> keys(std::begin(kTopologyKeys), std::end(kTopologyKeys));
  if (!first) std::erase(keys, "name");
  map.allow_only(keys);
  check_version(map, first);
  const fs::path path = fs::absolute(file).lexically_normal();
  read_.push_back({path, by});
  open_.push_back(path);
  if (const YamlValue* names = map.find("include")) {
    YamlMap front = map.without_entries();
    if (names->is_empty()) names->refuse("a file name or a list of them");
    if (!names->is_empty()) {
      for (const YamlValue& name : names->elements()) include(name, front);
    }
    map.put_in_front(std::move(front), kMergedKeys);
  }
  open_.pop_back();
  map.remove("include");
  if (!first) map.remove("millrace");
  return map;
}

bool Reader::may_include(const YamlValue& name, const std::string& written, const fs::path& path) {
  const auto refuse = [&](const std::string& found, const std::string& allowed) {
    problems_.add(name.mark(), found, allowed);
    return false;
  };
  if (std::find(open_.begin(), open_.end(), path) != open_.end()) {
    return refuse("'" + shown(written) + "', which includes this file or is it",
                  "files that do not include each other in a circle");
  }
  for (const Included& other : read_) {
    if (other.path != path) continue;
    return refuse("file '" + shown(written) + "' a second time",
                  "once; the first is in " + other.by.file + ":" + std::to_string(other.by.line) +
                      ":" + std::to_string(other.by.column));
  }
  if (open_.size() >= kIncludeDepthMax) {
    return refuse(
        "file '" + shown(written) + "' inside of " + std::to_string(open_.size()) + " others",
        "at most " + std::to_string(kIncludeDepthMax) + " files inside each other");
  }
  if (read_.size() >= kIncludeCountMax) {
    return refuse("more than " + std::to_string(kIncludeCountMax) + " files in all",
                  "at most " + std::to_string(kIncludeCountMax));
  }
  return true;
}

void Reader::include(const YamlValue& name, YamlMap& front) {
  constexpr std::string_view kAllowed = "a file name without variables";
  const std::optional<std::string> written = name.as_written(kAllowed);
  if (!written) return;
  if (Variables::mentioned_in(*written)) {
    name.refuse(kAllowed);
    return;
  }
  const fs::path path = (name.folder() / *written).lexically_normal();
  if (!may_include(name, *written, path)) return;
  std::string text;
  try {
    text = variables_.read_file()(path, kYamlBytesMax, false);
  } catch (const Error& error) {
    problems_.add(name.mark(), "file '" + path.string() + "' (" + error.what() + ")",
                  "a topology file that can be read");
    return;
  }
  // Named as a user would name it from where the file that includes it was named.
  const fs::path shown_as =
      (fs::path(name.mark().file).parent_path() / *written).lexically_normal();
  if (auto map = read(std::move(text), shown_as.string(), name.mark())) {
    YamlMap before = std::exchange(front, std::move(*map));
    front.put_in_front(std::move(before), kMergedKeys);
  }
}

}  // namespace

std::optional<YamlMap> read_documents(std::string text, const std::string& file,
                                      Variables& variables, Problems& problems) {
  return Reader(variables, problems).read(std::move(text), file, {file, 1, 1});
}

}  // namespace millrace
