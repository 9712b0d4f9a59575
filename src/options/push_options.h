// SPDX-License-Identifier: MIT
// Where recordings are pushed, and with which labels: of penna push, and of penna record --push.
//
// Invariant: after check_push_target(), labels are sorted by name, each once; credentials are in files.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "options/arguments.h"
#include "options/server_options.h"
#include "options/values.h"

namespace penna {

struct PushTarget {
  ServerOptions server;  // without a URL: nowhere
  std::vector<std::pair<std::string, std::string>> labels;
  std::optional<Duration> give_up;  // after so long without an answer
};

// --label; the caller adds the option for the URL, and add_server_options().
void add_label_option(OptionParser& parser, PushTarget& target);
Result<> check_push_target(PushTarget& target);
// The arguments of a `penna push` that pushes `recording` there, with the verb.
std::vector<std::string> push_words(const PushTarget& target, const std::string& recording, bool quiet);

}  // namespace penna
