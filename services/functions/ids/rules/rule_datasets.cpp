// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>

#include "services/functions/ids/rules/rule_keyword.hpp"
#include "services/functions/ids/rules/rule_places.hpp"
#include "services/functions/ids/rules/rule_values.hpp"
#include "services/functions/ids/rules/rule_words.hpp"
#include "services/functions/rule_files.hpp"
#include "shared/base/error.hpp"
#include "shared/base/quoted.hpp"

/// `dataset`: values in a file beside the rules. As in Suricata a line holds the base64 of a
/// string, or the hex of a digest; a buffer is compared with digests as it is (behind to_sha256).

namespace millrace {
namespace {

constexpr std::size_t kMd5Bytes = 16, kSha256Bytes = 32;
constexpr std::size_t kValuesMax = 1u << 22;

std::string string_of(std::string_view line) {
  constexpr std::size_t kText = 4, kBytes = 3;
  if (line.size() % kText != 0) refuse_rule(quoted_word(line) + " is no base64");
  std::string bytes(line.size() / kText * kBytes, '\0');
  const int length = EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                     reinterpret_cast<const unsigned char*>(line.data()),
                                     static_cast<int>(line.size()));
  if (length < 0) refuse_rule(quoted_word(line) + " is no base64");
  const std::size_t padding = line.ends_with("==") ? 2 : (line.ends_with('=') ? 1 : 0);
  bytes.resize(static_cast<std::size_t>(length) - padding);
  return bytes;
}

template <std::size_t Bytes>
std::string digest_of(std::string_view line) {
  std::string bytes = pattern_bytes("|" + std::string(line) + "|");
  if (bytes.size() != Bytes) {
    refuse_rule(quoted_word(line) + " is no digest of " + std::to_string(Bytes) + " bytes");
  }
  return bytes;
}

struct DatasetType {
  std::string_view name;
  std::string (*value_of)(std::string_view line);
};
constexpr DatasetType kTypes[] = {
    {"string", string_of}, {"md5", digest_of<kMd5Bytes>}, {"sha256", digest_of<kSha256Bytes>}};

/// The text of a file: that which the rules have already, or the one on disk.
const std::string& load_file(std::string_view name, RuleDraft& draft) {
  const auto found = draft.files.find(name);
  if (found != draft.files.end()) return found->second;
  // An absolute path stays as it is.
  const auto path = std::filesystem::path(draft.setup.folder) / name;
  try {
    return draft.files.emplace(name, read_rule_file(path.string())).first->second;
  } catch (const Error& error) {
    refuse_rule(error.what());
  }
}

std::vector<std::string> values_of(std::string_view text, const DatasetType& type) {
  std::vector<std::string> values;
  for (const std::string_view raw : split_list(text, '\n')) {
    const std::string_view line = without_blanks(raw);
    if (line.empty() || line.starts_with('#')) continue;
    if (values.size() == kValuesMax) refuse_rule("its file has too many lines");
    values.push_back(type.value_of(line));
  }
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

struct DatasetWords {
  std::string_view type, load;
};

DatasetWords read_words(const std::vector<std::string_view>& parts) {
  constexpr std::size_t kFirst = 2;  // behind the command and the name
  DatasetWords words;
  for (std::size_t at = kFirst; at < parts.size(); ++at) {
    const NamedValue named = split_named(parts[at]);
    if (named.name == "type") {
      words.type = named.value;
    } else if (named.name == "load") {
      words.load = named.value;
    } else if (named.name == "state" || named.name == "save") {
      refuse_rule(std::string(named.name) + ": sets that rules write are not supported");
    } else if (named.name != "memcap" && named.name != "hashsize") {
      refuse_rule(quoted_word(named.name) + " is not known");
    }
  }
  if (words.load.empty()) refuse_rule("'load' is missing: it names the file with the values");
  return words;
}

void add_dataset(const RuleOption& option, RuleDraft& draft) {
  const auto parts = split_list(unquoted(option.value), ',');
  constexpr std::size_t kPartsMin = 2;
  if (parts.size() < kPartsMin) refuse_rule("it has a command and a name");
  if (parts[0] == "set" || parts[0] == "unset") refuse_rule("rules cannot write a dataset");
  if (parts[0] != "isset" && parts[0] != "isnotset") {
    refuse_rule(quoted_word(parts[0]) + " is neither isset nor isnotset");
  }
  if (draft.buffer == RuleBuffer::kPayload) {
    refuse_rule("no sticky buffer stands in front of it");
  }
  const DatasetWords words = read_words(parts);
  const auto* const type = std::ranges::find(kTypes, words.type, &DatasetType::name);
  if (type == std::end(kTypes)) refuse_rule("the type is none of string, md5, sha256");
  DatasetMatch match;
  match.negated = parts[0] == "isnotset";
  match.values = values_of(load_file(unquoted(words.load), draft), *type);
  add_test(draft, std::move(match));
}

constexpr std::array kKeywords = {RuleKeyword{"dataset", KeywordValue::kNeeded, add_dataset}};

}  // namespace

RuleKeywords dataset_keywords() noexcept { return kKeywords; }

}  // namespace millrace
