// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "orchestration/planner/problem.hpp"
#include "orchestration/planner/variables.hpp"

/// A thin layer over yaml-cpp: every value knows its place and its name, and reads itself with the
/// limits that it has to keep. What is wrong goes into Problems, and the read returns nothing, so
/// that one run finds everything. Only the loader of this folder uses it.

namespace millrace {

/// A file that is being read. Shared by all its values.
struct YamlSource {
  std::string file;                  ///< for marks
  std::filesystem::path folder;      ///< of the file: relative names start here
  std::string text;                  ///< all of it
  std::vector<std::size_t> line_at;  ///< where each line starts in `text`
  Problems* problems = nullptr;      ///< outlives the values
  Variables* variables = nullptr;    ///< likewise; null: the text may not mention any
};

class YamlValue {
 public:
  /// `name`: what messages call it; the key, mostly. `fallback`: its mark when yaml-cpp has none.
  YamlValue(const YAML::Node& node, std::string name, const SourceMark& fallback,
            std::shared_ptr<const YamlSource> source);
  YamlValue(const YamlValue&) = default;
  YamlValue& operator=(const YamlValue& other);  ///< yaml-cpp's would change the document
  ~YamlValue() = default;

  const SourceMark& mark() const { return mark_; }
  const std::string& name() const { return name_; }
  Problems& problems() const { return *source_->problems; }
  const std::filesystem::path& folder() const { return source_->folder; }
  /// Place of a byte of the scalar; the scalar's own where it is folded, escaped or expanded.
  SourceMark mark_at(std::size_t offset) const;
  bool is_map() const { return node_.IsMap(); }
  bool is_list() const { return node_.IsSequence(); }
  /// Nothing is written behind the key.
  bool is_empty() const { return node_.IsNull() && null_word_.empty(); }

  /// A scalar that is not empty, as written ("null" too), its variables replaced. `allowed`
  /// describes it. Refuses secrets.
  std::optional<std::string> text(std::string_view allowed = "text") const;
  /// text(), made absolute: relative names start at the folder of the file they stand in.
  std::optional<std::string> file_name() const;
  /// text() as it was written, variables and all.
  std::optional<std::string> as_written(std::string_view allowed) const;
  /// text(), and takes secrets.
  std::optional<Expansion> text_or_secret(std::string_view allowed = "text") const;
  /// Decimal, not quoted, in [low, high].
  std::optional<std::uint64_t> integer(std::uint64_t low, std::uint64_t high) const;
  std::optional<double> number(double low, double high) const;
  std::optional<bool> flag() const;  ///< true or false
  /// Index of one of the names.
  std::optional<std::size_t> choice(std::span<const std::string_view> names) const;
  /// The elements of a list; a scalar is a list of itself.
  std::vector<YamlValue> elements() const;
  /// The same section of another file: a YamlMap of this value has the entries of both.
  void add_part(YamlValue part) { parts_.push_back(std::move(part)); }

  /// Adds "found 'x' as 'name'" at the value's place.
  void refuse(std::string_view allowed, std::string nearest = {}) const;

 private:
  friend class YamlMap;
  std::optional<std::string> plain(std::string_view allowed) const;
  std::string description() const;
  void refuse_expansion(const ExpansionError& error) const;

  YAML::Node node_;
  std::string name_;
  SourceMark mark_;
  std::string null_word_;  ///< how YAML's null was written; yaml-cpp does not keep it
  std::shared_ptr<const YamlSource> source_;
  std::vector<YamlValue> parts_;
};

struct YamlEntry {
  Marked<std::string> key;
  YamlValue value;
};

/// A map of the file, in its order.
class YamlMap {
 public:
  /// Refuses what is no map, keys that are no text, keys given twice (the first one counts), YAML's
  /// merge key, and what stands behind kYamlKeysMax keys.
  /// `allowed` describes the map in messages.
  explicit YamlMap(const YamlValue& value, std::string_view allowed = "a map of 'key: value'");

  const std::vector<YamlEntry>& entries() const { return entries_; }
  const YamlValue* find(std::string_view key) const;
  /// Puts the entries of another map in front. A key of both is refused, naming both places, but
  /// for `sections`: there the value gets another part.
  void put_in_front(YamlMap&& other, std::span<const std::string_view> sections);
  /// A map at the same place that has nothing in it.
  YamlMap without_entries() const;
  /// Takes an entry out, if it is there.
  void remove(std::string_view key);
  /// Refuses the map when the key is absent, and names one that may have been meant for it;
  /// `allowed` says what belongs there.
  const YamlValue* need(std::string_view key, std::string_view allowed) const;
  /// Refuses every key that is not in `keys`.
  void allow_only(std::span<const std::string_view> keys) const;
  const SourceMark& mark() const { return mark_; }

 private:
  void add(YamlEntry entry);
  std::vector<YamlEntry> entries_;
  std::string name_;
  SourceMark mark_;
  Problems* problems_;
  bool is_map_;
};

/// Parses one YAML document. Adds a problem and returns nothing when the text is no YAML, has
/// several documents, is larger than kYamlBytesMax or nested too deeply.
std::optional<YamlValue> parse_yaml(std::string text, const std::string& file, Problems& problems,
                                    Variables* variables = nullptr);
inline constexpr std::size_t kYamlBytesMax = std::size_t{1} << 20;
inline constexpr std::size_t kYamlKeysMax = 1024;  ///< of a map

}  // namespace millrace
