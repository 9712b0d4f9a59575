// SPDX-License-Identifier: MIT
// penna config [VERB]: the effective defaults, as a settings file, each with its origin.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/settings_files.h"
#include "cli/verbs.h"

namespace penna {
namespace {

struct ConfigOptions {
  std::string verb;
};

Result<Parsed<ConfigOptions>> parse_config(const Arguments& arguments) {
  Parsed<ConfigOptions> parsed;
  OptionParser parser(
      "Shows the defaults of options that files and PENNA_OPTIONS set, for one verb or for all, and where each comes "
      "from. What it prints is such a file.",
      "penna config");
  parser.word("VERB", parsed.options.verb, "only those of this verb");
  std::vector<std::string> names;
  for (const Verb& verb : verbs()) names.emplace_back(verb.name);
  parser.known(std::move(names));
  parsed.help = PENNA_TRY(parser.parse(arguments));
  if (!parsed.options.verb.empty() && find_verb(parsed.options.verb) == nullptr)
    return Error{no_such_verb_text(parsed.options.verb)};
  return parsed;
}

std::string toml_value(const Setting& setting) {
  if (setting.values.empty()) return setting.on ? "true" : "false";
  std::vector<std::string> values;
  for (const std::string& value : setting.values) values.push_back(toml_text(value));
  return values.size() == 1 ? values[0] : fmt::format("[{}]", fmt::join(values, ", "));
}

Result<std::string> section(const Verb& verb, const WrittenSettings& written) {
  Settings for_verb;
  for (const WrittenSetting& line : written.lines)
    if (line.verb.empty() || line.verb == verb.name) for_verb.push_back(line.setting);
  const OptionTable table = option_table(verb);
  Settings settings = PENNA_TRY(effective_settings(table, for_verb));
  std::sort(settings.begin(), settings.end(), [](const Setting& a, const Setting& b) { return a.option < b.option; });
  std::string text;
  for (const Setting& setting : settings)
    text +=
        fmt::format("{:<40}  # {}\n", table.find(setting.option)->key() + " = " + toml_value(setting), setting.origin);
  return text.empty() ? text : fmt::format("\n[{}]\n{}", verb.name, text);
}

int refuse(const Error& error) {
  fail(error.text);
  return kBadSettings;
}

int cmd_config(const ConfigOptions& options) {
  const auto written = read_settings();
  if (!written) return refuse(written.error());
  std::string text;
  for (const SettingsFile& file : written->files)
    text += fmt::format("# {}{}\n", file.path, file.is_read ? "" : ": " + file.why_not);
  for (const Verb& verb : verbs()) {
    if (!options.verb.empty() && options.verb != verb.name) continue;
    const auto of_verb = section(verb, *written);
    if (!of_verb) return refuse(of_verb.error());
    text += *of_verb;
  }
  return print(text);
}

}  // namespace

int config_verb(const Arguments& arguments) { return run_parsed("config", parse_config(arguments), cmd_config); }

}  // namespace penna
