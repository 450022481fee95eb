// SPDX-FileCopyrightText: 2026 The Millrace authors
// SPDX-License-Identifier: Apache-2.0
#include "orchestration/cli/json_text.hpp"
#include "orchestration/supervisor/key_files.hpp"

#include <unistd.h>

#include <array>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "orchestration/cli/commands.hpp"
#include "orchestration/cli/failure.hpp"

namespace millrace {
namespace {

constexpr const char* kHelp =
    "Control by TCP needs a pair of keys on each side: one for the host of the topology, one for\n"
    "each operator. FILE holds the secret half and stays where it was made; FILE.pub is for the\n"
    "other side.\n\n"
    "  on the host       millrace keys /etc/millrace/host.key\n"
    "  at the operator   millrace keys me.key\n"
    "  in the topology   control: { listen: \"tcp://10.0.0.1:7070\", key: host.key, clients: "
    "me.key.pub }\n"
    "  the operator      millrace status NAME --at tcp://10.0.0.1:7070 --key me.key "
    "--server-key host.key.pub\n\n"
    "A key that is not listed any more is refused from the next start on.";

struct KeysOptions {
  std::string file;
  bool json = false;
};

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

void make_keys(const KeysOptions& options) {
  write_key_files(options.file, host_name());
  const std::string open = options.file + ".pub";
  if (options.json) {
    const nlohmann::ordered_json json = {{"ok", true}, {"secret", options.file}, {"public", open}};
    std::cout << json_text(json) << '\n';
    return;
  }
  std::cout << options.file << ": the secret key; it stays here: `key:` of a topology, or --key\n"
            << open << ": the public one, for the other side: `clients:` of a topology, or "
            << "--server-key\n";
}

}  // namespace

void add_keys(CLI::App& app) {
  CLI::App* command = app.add_subcommand("keys", "make a pair of keys for control by TCP");
  command->footer(kHelp);
  auto options = std::make_shared<KeysOptions>();
  command
      ->add_option("file", options->file,
                   "write the secret key here; the public one goes to FILE.pub")
      ->required();
  command->add_flag("--json", options->json, "the result as JSON; errors too");
  command->callback([options] {
    run_command(options->json ? Format::kJson : Format::kText, [&] { make_keys(*options); });
  });
}

}  // namespace millrace
