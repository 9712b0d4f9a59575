// SPDX-License-Identifier: MIT
// See server_options.h.
#include "options/server_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace penna {

void add_server_options(OptionParser& parser, ServerOptions& options) {
  parser.section("Of the server");
  parser.text("--database", options.database, "NAME", "of the server, where the tables are; default penna");
  parser.text("--user", options.user, "NAME", "who asks; default 'default'");
  parser.text("--password-file", options.password_file, "FILE", "the user's password; nobody else may read FILE");
  parser.text("--token-file", options.token_file, "FILE", "a token (Authorization: Bearer), in place of a password");
}

Result<std::string> server_address(const std::string& url) {
  const Error wrong{fmt::format("'{}' is no address of a server: write http://HOST:PORT or https://HOST:PORT", url)};
  const bool is_https = url.starts_with("https://");
  if (!is_https && !url.starts_with("http://")) return wrong;
  std::string rest = url.substr(is_https ? 8 : 7);
  while (rest.ends_with('/')) rest.pop_back();
  if (rest.find('@') != std::string::npos)
    return Error{"an address must hold no password, as all users of this machine can read it: use --password-file"};
  const size_t colon = rest.rfind(':');
  const bool has_port = colon != std::string::npos && rest.find(']', colon) == std::string::npos;
  const std::string host = rest.substr(0, has_port ? colon : std::string::npos);
  const std::string port = has_port ? rest.substr(colon + 1) : is_https ? "8443" : "8123";
  const auto is_of_host = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_' || c == '[' || c == ']' || c == ':';
  };
  const auto is_digit = [](unsigned char c) { return std::isdigit(c) != 0; };
  if (host.empty() || !std::all_of(host.begin(), host.end(), is_of_host)) return wrong;
  if (port.empty() || port.size() > 5 || !std::all_of(port.begin(), port.end(), is_digit)) return wrong;
  return fmt::format("{}://{}:{}", is_https ? "https" : "http", host, port);
}

Result<> check_server_options(const ServerOptions& options) {
  const auto is_word = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  if (options.database.empty() || !std::all_of(options.database.begin(), options.database.end(), is_word))
    return Error{fmt::format("'{}' is no name of a database: use letters, digits and _", options.database)};
  if (!options.password_file.empty() && !options.token_file.empty())
    return Error{"there is a --password-file and a --token-file: leave out one"};
  if (options.url.empty()) return ok();
  PENNA_TRY(server_address(options.url));
  return ok();
}

}  // namespace penna
