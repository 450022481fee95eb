// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
//
// Drives a fuzz target without libFuzzer: every file of the corpus folders named as arguments, then
// a fixed number of seeded mutations of them. MILLRACE_FUZZ_RUNS and MILLRACE_FUZZ_SEED change
// number and seed.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

using Bytes = std::vector<uint8_t>;
constexpr size_t kInputBytesMax = 4096;

uint64_t environment_or(const char* name, uint64_t fallback) {
  const char* text = std::getenv(name);
  return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

std::vector<Bytes> read_corpus(int count, char** folders) {
  std::vector<Bytes> corpus;
  for (int i = 0; i < count; ++i) {
    if (!std::filesystem::is_directory(folders[i])) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folders[i])) {
      if (!entry.is_regular_file()) continue;
      std::ifstream in(entry.path(), std::ios::binary);
      corpus.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    }
  }
  if (corpus.empty()) corpus.emplace_back();
  return corpus;
}

Bytes mutate(Bytes input, const std::vector<Bytes>& corpus, std::mt19937_64& random) {
  const uint64_t changes = 1 + random() % 8;
  for (uint64_t i = 0; i < changes; ++i) {
    const size_t at = input.empty() ? 0 : random() % input.size();
    const auto here = input.begin() + static_cast<std::ptrdiff_t>(at);
    const auto value = static_cast<uint8_t>(random());
    const Bytes& other = corpus[random() % corpus.size()];
    switch (input.empty() ? 0 : random() % 5) {
      case 0:
        input.insert(here, value);
        break;
      case 1:
        *here = value;
        break;
      case 2:
        *here ^= static_cast<uint8_t>(1U << (random() % 8));
        break;
      case 3:
        input.resize(at);
        break;
      default:
        input.insert(here, other.begin(), other.end());
        break;
    }
  }
  if (input.size() > kInputBytesMax) input.resize(kInputBytesMax);
  return input;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<Bytes> corpus = read_corpus(argc - 1, argv + 1);
  for (const Bytes& input : corpus) LLVMFuzzerTestOneInput(input.data(), input.size());

  const uint64_t runs = environment_or("MILLRACE_FUZZ_RUNS", 20000);
  std::mt19937_64 random(environment_or("MILLRACE_FUZZ_SEED", 1));
  for (uint64_t run = 0; run < runs; ++run) {
    const Bytes input = mutate(corpus[random() % corpus.size()], corpus, random);
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
  std::printf("%zu inputs of the corpus, %llu mutations\n", corpus.size(),
              static_cast<unsigned long long>(runs));
  return 0;
}
