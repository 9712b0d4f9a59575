// SPDX-License-Identifier: MIT
// See arguments.h.
#include "cli/arguments.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cctype>
#include <cstdio>

#include "base/say.h"

namespace penna {
namespace {

// CLI11's messages as part of our sentence: no line end, no full stop, a small first letter unless it is an option.
std::string in_sentence(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '.' || text.back() == ' ')) text.pop_back();
  if (text.size() > 1 && std::isupper(static_cast<unsigned char>(text[0])) &&
      std::islower(static_cast<unsigned char>(text[1])))
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

}  // namespace

Result<std::string> parse_with(CLI::App& app, const Arguments& arguments) {
  app.set_help_flag("-h,--help", "show this text");
  app.get_formatter()->column_width(34);
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());  // as CLI11 wants them
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::CallForHelp&) {
    return app.help();
  } catch (const CLI::ParseError& error) {
    return Error{in_sentence(error.what())};
  }
  return std::string();
}

int fail(const std::string& text) {
  say(text);
  return kOurFailure;
}

bool may_run(const char* verb, const Error* error, const std::string& help, int* status) {
  if (error != nullptr) {
    *status = fail(fmt::format("{}: {}; 'penna help {}' shows what is possible", verb, error->text, verb));
    return false;
  }
  if (help.empty()) return true;
  std::fputs(help.c_str(), stdout);
  return false;
}

}  // namespace penna
