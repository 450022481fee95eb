// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/planner/yaml_reader.hpp"

#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <sstream>
#include <utility>

#include "shared/base/nearest.hpp"

namespace millrace {
namespace {

SourceMark mark_of(const YAML::Mark& mark, const std::string& file) {
  return {file, mark.line + 1, mark.column + 1};
}

/// The word at a place of the text, if it is one that YAML takes for null.
std::string null_word_at(const YamlSource& source, const SourceMark& mark) {
  if (mark.line < 1 || static_cast<std::size_t>(mark.line) > source.line_at.size()) return {};
  const std::size_t at = source.line_at[static_cast<std::size_t>(mark.line - 1)] +
                         static_cast<std::size_t>(mark.column - 1);
  if (at >= source.text.size()) return {};
  const std::string_view rest = std::string_view(source.text).substr(at);
  for (const std::string_view word : {"null", "Null", "NULL"}) {
    if (rest.starts_with(word)) return std::string(word);
  }
  return {};
}

template <typename Number>
std::optional<Number> parse_all(const std::string& text) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

/// Hears that there is a document, and nothing else of it.
class DocumentListener final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

/// 0, 1, or 2 for more. YAML::LoadAll would make documents without end of what some texts leave
/// over behind the first ("[a], b"), until the memory is used up.
int document_count(const std::string& text) {
  std::istringstream in(text);
  YAML::Parser parser(in);
  DocumentListener listener;
  int count = 0;
  while (count < 2 && parser.HandleNextDocument(listener)) ++count;
  return count;
}

std::string number_text(double number) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.15g", number);
  return text;
}

}  // namespace

YamlValue::YamlValue(const YAML::Node& node, std::string name, const SourceMark& fallback,
                     std::shared_ptr<const YamlSource> source)
    : node_(node), name_(std::move(name)), mark_(fallback), source_(std::move(source)) {
  const YAML::Mark mark = node_.Mark();
  if (node_.IsNull()) null_word_ = null_word_at(*source_, mark_of(mark, {}));
  if (!mark.is_null() && !is_empty()) mark_ = mark_of(mark, source_->file);
}

YamlValue& YamlValue::operator=(const YamlValue& other) {
  if (this == &other) return *this;
  node_.reset(other.node_);
  name_ = other.name_;
  mark_ = other.mark_;
  null_word_ = other.null_word_;
  source_ = other.source_;
  parts_ = other.parts_;
  return *this;
}

std::string YamlValue::description() const {
  if (node_.IsMap()) return "a map";
  if (node_.IsSequence()) return "a list";
  if (is_empty()) return "nothing";
  const std::string written = node_.IsNull() ? null_word_ : node_.Scalar();
  std::string quoted = "'" + shown(written) + "'";
  if (source_->variables == nullptr || !Variables::mentioned_in(written)) return quoted;
  ExpansionError ignored;
  const auto expansion = source_->variables->expand(written, source_->folder, ignored);
  return !expansion || expansion->secret ? quoted : "'" + shown(expansion->text) + "' by " + quoted;
}

SourceMark YamlValue::mark_at(std::size_t offset) const {
  if (!node_.IsScalar() || mark_.line < 1) return mark_;
  const auto line = static_cast<std::size_t>(mark_.line - 1);
  if (line >= source_->line_at.size()) return mark_;
  std::size_t at = source_->line_at[line] + static_cast<std::size_t>(mark_.column - 1);
  const std::string& text = source_->text;
  if (at < text.size() && (text[at] == '"' || text[at] == '\'')) ++at;
  if (text.compare(std::min(at, text.size()), node_.Scalar().size(), node_.Scalar()) != 0) {
    return mark_;
  }
  const std::size_t column = at + offset - source_->line_at[line] + 1;
  return {mark_.file, mark_.line, static_cast<int>(column)};
}

void YamlValue::refuse(std::string_view allowed, std::string nearest) const {
  problems().add(mark_, description() + " as '" + shown(name_) + "'", std::string(allowed),
                 std::move(nearest));
}

std::optional<std::string> YamlValue::text(std::string_view allowed) const {
  const std::optional<Expansion> expansion = text_or_secret(allowed);
  if (!expansion) return std::nullopt;
  if (!expansion->secret) return expansion->text;
  problems().add(mark_, "a value from a file as '" + shown(name_) + "'",
                 std::string(allowed) + ", not secret");
  return std::nullopt;
}

std::optional<std::string> YamlValue::file_name() const {
  const std::optional<std::string> name = text("a file name");
  if (!name) return std::nullopt;
  return (folder() / *name).lexically_normal().string();
}

std::optional<std::string> YamlValue::as_written(std::string_view allowed) const {
  if (!null_word_.empty()) return null_word_;
  if (node_.IsScalar() && !node_.Scalar().empty()) return node_.Scalar();
  refuse(allowed);
  return std::nullopt;
}

std::optional<Expansion> YamlValue::text_or_secret(std::string_view allowed) const {
  const std::optional<std::string> scalar = as_written(allowed);
  if (!scalar) return std::nullopt;
  const std::string& written = *scalar;
  if (!Variables::mentioned_in(written)) return Expansion{written, false};
  if (source_->variables == nullptr) {
    refuse("text without '${'");
    return std::nullopt;
  }
  ExpansionError error;
  auto expansion = source_->variables->expand(written, source_->folder, error);
  if (!expansion) {
    if (!error.found.empty()) refuse_expansion(error);
  } else if (expansion->text.empty()) {
    problems().add(mark_, "nothing by '" + shown(written) + "' as '" + shown(name_) + "'",
                   std::string(allowed));
    return std::nullopt;
  }
  return expansion;
}

void YamlValue::refuse_expansion(const ExpansionError& error) const {
  problems().add(mark_at(error.at), error.found, error.allowed, error.nearest);
}

/// Text that is not quoted: "1" in quotes is no number.
std::optional<std::string> YamlValue::plain(std::string_view allowed) const {
  // A variable has to be quoted inside of '{}'.
  if (node_.IsScalar() && node_.Tag() == "!" && !Variables::mentioned_in(node_.Scalar())) {
    problems().add(mark_, "quoted text as '" + shown(name_) + "'", std::string(allowed));
    return std::nullopt;
  }
  return text(allowed);
}

std::optional<std::uint64_t> YamlValue::integer(std::uint64_t low, std::uint64_t high) const {
  const std::string allowed =
      "a whole number from " + std::to_string(low) + " to " + std::to_string(high);
  const std::optional<std::string> written = plain(allowed);
  if (!written) return std::nullopt;
  const auto number = parse_all<std::uint64_t>(*written);
  if (number && *number >= low && *number <= high) return number;
  refuse(allowed);
  return std::nullopt;
}

std::optional<double> YamlValue::number(double low, double high) const {
  const std::string allowed = "a number from " + number_text(low) + " to " + number_text(high);
  const std::optional<std::string> written = plain(allowed);
  if (!written) return std::nullopt;
  const auto number = parse_all<double>(*written);
  if (number && std::isfinite(*number) && *number >= low && *number <= high) return number;
  refuse(allowed);
  return std::nullopt;
}

std::optional<bool> YamlValue::flag() const {
  const std::optional<std::string> written = plain("true, false");
  if (!written) return std::nullopt;
  if (*written == "true" || *written == "false") return *written == "true";
  refuse("true, false");
  return std::nullopt;
}

std::optional<std::size_t> YamlValue::choice(std::span<const std::string_view> names) const {
  const std::string allowed = comma_list(names);
  const std::optional<std::string> written = text(allowed);
  if (!written) return std::nullopt;
  const auto found = std::find(names.begin(), names.end(), *written);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  refuse(allowed, nearest_of(*written, names));
  return std::nullopt;
}

std::vector<YamlValue> YamlValue::elements() const {
  if (!is_list()) return {*this};
  std::vector<YamlValue> values;
  for (const auto& element : node_) values.emplace_back(element, name_, mark_, source_);
  return values;
}

YamlMap::YamlMap(const YamlValue& value, std::string_view allowed)
    : name_(value.name()),
      mark_(value.mark()),
      problems_(&value.problems()),
      is_map_(value.is_map()) {
  if (!is_map_) {
    value.refuse(allowed);
    return;
  }
  for (const auto& pair : value.node_) {
    const YamlValue key(pair.first, "a key", mark_, value.source_);
    if (entries_.size() == kYamlKeysMax) {
      problems_->add(key.mark(),
                     std::to_string(value.node_.size()) + " keys in '" + shown(name_) + "'",
                     "at most " + std::to_string(kYamlKeysMax));
      break;
    }
    if (pair.first.IsScalar() && pair.first.Scalar() == "<<") {
      key.refuse("the entries themselves: maps are not merged");
      continue;
    }
    if (pair.first.IsScalar() && Variables::mentioned_in(pair.first.Scalar())) {
      key.refuse("text without '${' as a key");
      continue;
    }
    const std::optional<std::string> name = key.text("text as a key");
    if (name) add({{*name, key.mark()}, {pair.second, *name, key.mark(), value.source_}});
  }
  for (const YamlValue& part : value.parts_) {
    for (const YamlEntry& entry : YamlMap(part, allowed).entries_) add(entry);
  }
}

void YamlMap::add(YamlEntry entry) {
  const auto first = std::find_if(entries_.begin(), entries_.end(), [&](const YamlEntry& e) {
    return e.key.value == entry.key.value;
  });
  if (first == entries_.end()) {
    entries_.push_back(std::move(entry));
    return;
  }
  const SourceMark& at = first->key.mark;
  const std::string line = std::to_string(at.line);
  problems_->add(entry.key.mark, "'" + shown(entry.key.value) + "' a second time",
                 at.file == entry.key.mark.file ? "once; the first is in line " + line
                                                : "once; the first is in " + at.file + ":" + line +
                                                      ":" + std::to_string(at.column));
}

void YamlMap::put_in_front(YamlMap&& other, std::span<const std::string_view> sections) {
  std::vector<YamlEntry> own = std::exchange(entries_, std::move(other.entries_));
  for (YamlEntry& entry : own) {
    const auto same = std::find_if(entries_.begin(), entries_.end(), [&](const YamlEntry& e) {
      return e.key.value == entry.key.value;
    });
    const bool section =
        std::find(sections.begin(), sections.end(), entry.key.value) != sections.end();
    if (same != entries_.end() && section) {
      same->value.add_part(entry.value);
    } else {
      add(std::move(entry));
    }
  }
}

YamlMap YamlMap::without_entries() const {
  YamlMap map = *this;
  map.entries_.clear();
  return map;
}

void YamlMap::remove(std::string_view key) {
  std::erase_if(entries_, [&](const YamlEntry& entry) { return entry.key.value == key; });
}

const YamlValue* YamlMap::find(std::string_view key) const {
  for (const YamlEntry& entry : entries_) {
    if (entry.key.value == key) return &entry.value;
  }
  return nullptr;
}

const YamlValue* YamlMap::need(std::string_view key, std::string_view allowed) const {
  const YamlValue* value = find(key);
  if (value != nullptr || !is_map_) return value;
  std::vector<std::string_view> keys;
  for (const YamlEntry& entry : entries_) keys.push_back(entry.key.value);
  const std::string near = nearest_of(key, keys);
  problems_->add(mark_,
                 "no '" + std::string(key) + "'" + (near.empty() ? "" : ", but '" + near + "',") +
                     " in '" + shown(name_) + "'",
                 std::string(allowed));
  return nullptr;
}

void YamlMap::allow_only(std::span<const std::string_view> keys) const {
  for (const YamlEntry& entry : entries_) {
    const std::string& key = entry.key.value;
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
    problems_->add(entry.key.mark, "'" + shown(key) + "' in '" + shown(name_) + "'",
                   comma_list(keys), nearest_of(key, keys));
  }
}

std::optional<YamlValue> parse_yaml(std::string text, const std::string& file, Problems& problems,
                                    Variables* variables) {
  const SourceMark start{file, 1, 1};
  if (text.size() > kYamlBytesMax) {
    problems.add(start, std::to_string(text.size()) + " bytes",
                 std::to_string(kYamlBytesMax) + " bytes");
    return std::nullopt;
  }
  auto source = std::make_shared<YamlSource>();
  source->file = file;
  source->folder = std::filesystem::absolute(file).parent_path();
  source->variables = variables;
  source->text = std::move(text);
  source->problems = &problems;
  source->line_at.push_back(0);
  for (std::size_t i = 0; i < source->text.size(); ++i) {
    if (source->text[i] == '\n') source->line_at.push_back(i + 1);
  }
  try {
    const int count = document_count(source->text);
    if (count == 1) return YamlValue(YAML::Load(source->text), file, start, source);
    problems.add(start, count == 0 ? "no YAML document" : "more than one YAML document", "one");
  } catch (const YAML::DeepRecursion& error) {
    problems.add(mark_of(error.mark, file), "lists and maps nested too deeply");
  } catch (const YAML::Exception& error) {
    const SourceMark at = error.mark.is_null() ? start : mark_of(error.mark, file);
    problems.add(at, "text that is no YAML (" + error.msg + ")");
  }
  return std::nullopt;
}

}  // namespace millrace
