// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include "services/functions/ids/rules/rule_addresses.hpp"
#include "services/functions/ids/rules/rule_set.hpp"
#include "services/functions/ids/rules/rule_words.hpp"
#include "services/functions/rule_files.hpp"
#include "shared/base/error.hpp"
#include "shared/base/quoted.hpp"

namespace millrace {
namespace {

/// "key value, key value" of a line.
using Fields = std::map<std::string_view, std::string_view>;

Fields split_fields(std::string_view text) {
  Fields fields;
  std::size_t start = 0;
  int brackets = 0;
  for (std::size_t at = 0; at <= text.size(); ++at) {
    const char c = at < text.size() ? text[at] : ',';
    if (c == '[') ++brackets;
    if (c == ']') --brackets;
    if (c != ',' || (brackets > 0 && at < text.size())) continue;
    const std::string_view field = without_blanks(text.substr(start, at - start));
    start = at + 1;
    const std::size_t blank = field.find_first_of(" \t");
    if (blank == std::string_view::npos) {
      throw Error(quoted_word(field) + " is no name with a value behind it");
    }
    if (!fields.emplace(field.substr(0, blank), without_blanks(field.substr(blank))).second) {
      throw Error(quoted_word(field.substr(0, blank)) + " stands there twice");
    }
  }
  return fields;
}

std::string_view take(Fields& fields, std::string_view name) {
  const auto found = fields.find(name);
  if (found == fields.end()) throw Error(quoted_word(name) + " is missing");
  const std::string_view value = found->second;
  fields.erase(found);
  return value;
}

std::uint32_t take_number(Fields& fields, std::string_view name) {
  const std::string_view word = take(fields, name);
  std::uint32_t number = 0;
  const char* const last = word.data() + word.size();
  const auto [end, error] = std::from_chars(word.data(), last, number);
  if (error != std::errc() || end != last) {
    throw Error(std::string(name) + " " + quoted_word(word) + " is no number");
  }
  return number;
}

std::uint32_t take_count(Fields& fields, std::string_view name) {
  const std::uint32_t number = take_number(fields, name);
  if (number == 0) throw Error(std::string(name) + " is 0");
  return number;
}

template <typename Value, std::size_t kCount>
Value take_choice(Fields& fields, std::string_view name,
                  const std::array<std::pair<std::string_view, Value>, kCount>& choices) {
  const std::string_view word = take(fields, name);
  std::string all;
  for (const auto& [text, value] : choices) {
    if (text == word) return value;
    all += (all.empty() ? "" : ", ") + std::string(text);
  }
  throw Error(std::string(name) + " " + quoted_word(word) + " is none of " + all);
}

using Track = RuleSuppression::Track;
constexpr std::array<std::pair<std::string_view, Track>, 3> kTracks = {
    {{"by_src", Track::kSource}, {"by_dst", Track::kDestination}, {"by_either", Track::kEither}}};
constexpr std::array<std::pair<std::string_view, Threshold::Kind>, 3> kKinds = {
    {{"limit", Threshold::Kind::kLimit},
     {"threshold", Threshold::Kind::kThreshold},
     {"both", Threshold::Kind::kBoth}}};
constexpr std::array<std::pair<std::string_view, TrackBy>, 5> kTracksBy = {
    {{"by_src", TrackBy::kSource},
     {"by_dst", TrackBy::kDestination},
     {"by_both", TrackBy::kBoth},
     {"by_rule", TrackBy::kRule},
     {"by_flow", TrackBy::kFlow}}};

/// Lines of one file.
class ThresholdReader {
 public:
  ThresholdReader(const RuleSetup& setup, RuleSet& rules) : setup_(setup), rules_(rules) {}

  /// Throws Error without a place.
  void take_line(std::string_view line) {
    const std::size_t blank = std::min(line.find_first_of(" \t"), line.size());
    const std::string_view command = line.substr(0, blank);
    if (command == "rate_filter") {
      throw Error("rate_filter is not supported: a rule's action does not change with its rate");
    }
    if (command != "suppress" && command != "threshold" && command != "event_filter") {
      throw Error(quoted_word(command) + " is none of suppress, threshold, event_filter");
    }
    Fields fields = split_fields(line.substr(blank));
    const std::uint32_t gid = take_number(fields, "gen_id");
    const std::uint32_t sid = take_number(fields, "sig_id");
    if (gid == 0 && sid != 0) throw Error("gen_id 0 means all rules; sig_id must be 0 then");
    if (command == "suppress") {
      suppress(gid, sid, fields);
    } else {
      threshold(gid, sid, fields);
    }
    if (!fields.empty()) throw Error(quoted_word(fields.begin()->first) + " is not understood");
  }

  ThresholdFile finish() { return std::move(file_); }

 private:
  void suppress(std::uint32_t gid, std::uint32_t sid, Fields& fields) {
    RuleSuppression suppression{gid, sid, Track::kAny, {}};
    if (fields.contains("track") || fields.contains("ip")) {
      suppression.track = take_choice(fields, "track", kTracks);
      try {
        suppression.addresses = read_rule_addresses(take(fields, "ip"), setup_.variables);
      } catch (const RuleRefused& refused) {
        throw Error("ip: " + refused.reason);
      }
    }
    file_.suppressions.push_back(std::move(suppression));
  }

  void threshold(std::uint32_t gid, std::uint32_t sid, Fields& fields) {
    Threshold threshold;
    threshold.kind = take_choice(fields, "type", kKinds);
    threshold.by = take_choice(fields, "track", kTracksBy);
    threshold.count = take_count(fields, "count");
    threshold.seconds = take_count(fields, "seconds");
    for (Signature& rule : rules_.signatures) {
      if ((gid != 0 && rule.gid != gid) || (sid != 0 && rule.sid != sid)) continue;
      // As in Suricata: of one rule the line counts more than the rule's own words, of many less.
      if (sid == 0 && (rule.threshold || rule.detection_filter)) continue;
      rule.detection_filter.reset();
      rule.threshold = threshold;
    }
  }

  const RuleSetup& setup_;
  RuleSet& rules_;
  ThresholdFile file_;
};

}  // namespace

ThresholdFile load_threshold_file(const std::string& path, const RuleSetup& setup, RuleSet& rules) {
  const std::string text = read_rule_file(path);
  ThresholdReader reader(setup, rules);
  std::string_view rest = text;
  std::string whole;
  std::size_t first = 1;
  std::size_t line_count = 0;
  for (std::size_t number = 1; !rest.empty(); ++number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = without_blanks(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (whole.empty()) first = number;
    if (whole.empty() && line.starts_with('#')) continue;
    const bool goes_on = line.ends_with('\\') && !rest.empty();
    if (line.ends_with('\\')) line.remove_suffix(1);
    whole += line;
    if (goes_on) continue;
    if (!without_blanks(whole).empty()) {
      while_doing(path + ":" + std::to_string(first),
                  [&] { reader.take_line(without_blanks(whole)); });
      ++line_count;
    }
    whole.clear();
  }
  ThresholdFile file = reader.finish();
  file.line_count = line_count;
  return file;
}

}  // namespace millrace
