// SPDX-License-Identifier: MIT
// See push_options.h.
#include "options/push_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "sql/clickhouse/fleet_push.h"

namespace penna {

void add_label_option(OptionParser& parser, PushTarget& target) {
  parser.values("--label", target.labels, "NAME=VALUE",
                "of the recordings that are pushed: service (default the program's name), host (default the "
                "machine's), or any other; may be repeated",
                parse_label);
}

Result<> check_push_target(PushTarget& target) {
  PENNA_TRY(check_server_options(target.server));
  std::sort(target.labels.begin(), target.labels.end());
  for (size_t i = 1; i < target.labels.size(); ++i)
    if (target.labels[i].first == target.labels[i - 1].first)
      return Error{fmt::format("the label {} is given twice", target.labels[i].first)};
  return ok();
}

std::vector<std::string> push_words(const PushTarget& target, const std::string& recording, bool quiet) {
  const ServerOptions& server = target.server;
  std::vector<std::string> words = {"push", "--to", server.url, "--database", server.database, "--user", server.user};
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {option, value});
  };
  add("--password-file", server.password_file);
  add("--token-file", server.token_file);
  for (const auto& [name, value] : target.labels) add("--label", name + "=" + value);
  if (target.give_up) add("--give-up", target.give_up->text);
  if (quiet) words.emplace_back("--quiet");
  words.insert(words.end(), {"--", recording});
  return words;
}

}  // namespace penna
