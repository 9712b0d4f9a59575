// SPDX-License-Identifier: MIT
// The options of verbs that query a ClickHouse server: its address, the user, and the credentials.
//
// Invariant: a password or token is never a word of a command line, which all users of a machine can read.
#pragma once

#include <string>

#include "base/result.h"
#include "options/arguments.h"

namespace penna {

struct ServerOptions {
  std::string url;  // as it was typed
  std::string database = "penna";
  std::string user = "default";
  std::string password_file, token_file;  // at most one
};

// --database, --user, --password-file, --token-file, in a section of their own. The URL is the verb's.
void add_server_options(OptionParser& parser, ServerOptions& options);

// "https://ch1.example:8443": scheme, host and port; adds the default port if the text has none. The error says what is
// wrong with it.
Result<std::string> server_address(const std::string& url);
// Checks what add_server_options() cannot check by itself.
Result<> check_server_options(const ServerOptions& options);

}  // namespace penna
