// SPDX-License-Identifier: MIT
// See arguments.h. The only file that knows CLI11.
#include "options/arguments.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <map>
#include <stdexcept>

#include "base/file.h"
#include "base/nearest_name.h"
#include "base/say.h"
#include "base/whole_number.h"
#include "options/help_page.h"
#include "options/terminal.h"
#include "options/verb_help.h"
#include "options/wrong_words.h"

namespace penna {
namespace {

// CLI11's messages as part of our sentence: no line end, no period, lower-case first letter unless it is an option.
std::string in_sentence(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '.' || text.back() == ' ')) text.pop_back();
  if (text.size() > 1 && std::isupper(static_cast<unsigned char>(text[0])) &&
      std::islower(static_cast<unsigned char>(text[1])))
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

std::string joined(const std::vector<std::string>& words, const char* between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}

// CLI11 2.3 accepts names that 2.4 rejects. Checked here, so that a mistake shows with either version; it is one in our
// own code, and throws on the first start of the verb.
const char* well_formed(const char* names) {
  for (const char* c = names; *c != '\0'; ++c)
    if (static_cast<unsigned char>(*c) <= ' ' || *c == '=' || *c == ':' || *c == '{')
      throw std::invalid_argument(fmt::format("not every CLI11 takes the name '{}'", names));
  return names;
}

// "--top" of "-n,--top".
std::string long_name(const std::string& names) {
  const size_t at = std::min(names.find("--"), names.size());
  return names.substr(at, names.find(',', at) - at);
}

// Where option_table() wants the parsing table of the next parse() to go.
OptionTable* wanted_table = nullptr;

Result<Settings> (*settings_source)(const std::string& verb) = nullptr;
int status_of_errors = kOurFailure;

}  // namespace

// Everything that must outlive the declarations. CLI11 keeps pointers to the variables it sets.
struct OptionParser::Parts {
  Parts(const std::string& about, const char* name) : app(about, name) { app.set_help_flag(); }
  // `option` was declared last.
  CLI::Option* declared(CLI::Option* option) {
    last = option;
    if (section != nullptr) sections[option] = section;
    return option;
  }
  CLI::App app;
  std::vector<AboutRow> list;
  std::vector<std::string>* command = nullptr;
  const CLI::Option* last = nullptr;  // declared last
  std::map<const CLI::Option*, std::vector<std::string>> known;
  std::map<const CLI::Option*, const void*> group;
  std::map<const CLI::Option*, std::string> typed;  // positional words with meaning by order are one list to CLI11
  const char* section = nullptr;                    // of the current declarations
  std::map<const CLI::Option*, const char*> sections;
  std::map<const void*, std::string> chosen;  // by which option
  std::vector<std::vector<std::string>> contradictory;
  std::optional<Error> error;  // the first from a value's parser
  // Parsing continues after an error, because CLI11's callbacks cannot return one; parse() returns the first.
  void note(const Result<>& taken) {
    if (!taken && !error) error = taken.error();
  }
  // `words`: reversed.
  std::optional<Error> read(std::vector<std::string> words, const OptionTable& table) {
    try {
      app.parse(std::move(words));
    } catch (const CLI::ExtrasError&) {
      const std::vector<std::string> unexpected = app.remaining();
      return unexpected_word(table, unexpected.empty() ? std::string() : unexpected.front());
    } catch (const CLI::RequiredError&) {
      return missing_word(table);
    } catch (const CLI::ParseError& wrong) {
      return Error{in_sentence(wrong.what())};
    }
    return std::nullopt;
  }
};

OptionParser::OptionParser(const std::string& about, const char* command)
    : parts_(std::make_unique<Parts>(about, command)) {}
OptionParser::~OptionParser() = default;

void OptionParser::about_row(const char* word, const char* is) { parts_->list.push_back({word, is}); }

void OptionParser::flag(const char* names, bool& value, const std::string& help) {
  parts_->declared(parts_->app.add_flag(well_formed(names), value, help));
}

void OptionParser::text(const char* names, std::string& value, const char* shown, const std::string& help) {
  parts_->declared(parts_->app.add_option(well_formed(names), value, help))->type_name(shown);
}

void OptionParser::text_or(const char* alone, const char* names, std::string& value, const char* shown,
                           const std::string& help) {
  parts_->declared(parts_->app.add_option(well_formed(names), value, help))
      ->type_name(shown)
      ->expected(0, 1)
      ->default_str(alone);
}

void OptionParser::texts(const char* names, std::vector<std::string>& values, const char* shown,
                         const std::string& help, Split split) {
  CLI::Option* option = parts_->declared(parts_->app.add_option(well_formed(names), values, help))->type_name(shown);
  if (split == Split::kAtCommas) option->delimiter(',');
  // Otherwise CLI11 lets an option with a vector take all words up to the next option: "-e x REC" would consume REC.
  option->allow_extra_args(false);
}

void OptionParser::add_parsed(const char* names, const char* shown, const std::string& help, const Take& take) {
  const auto note = [this, take](const std::string& text) { parts_->note(take(text)); };
  parts_->declared(parts_->app.add_option_function<std::string>(well_formed(names), note, help))->type_name(shown);
}

void OptionParser::add_repeated(const char* names, const char* shown, const std::string& help, const Take& take) {
  const auto note = [this, take](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) parts_->note(take(text));
  };
  parts_->declared(parts_->app.add_option_function<std::vector<std::string>>(well_formed(names), note, help))
      ->type_name(shown)
      ->allow_extra_args(false);
}

void OptionParser::add_number(const char* names, const char* shown, const std::string& help, uint64_t low,
                              uint64_t high, const std::function<void(uint64_t)>& set) {
  add_parsed(names, shown, help, [name = long_name(names), low, high, set](const std::string& text) -> Result<> {
    const std::optional<uint64_t> value = whole_number<uint64_t>(text);
    const std::string range = high < UINT32_MAX ? fmt::format(" from {} to {}", low, high)
                              : low != 0        ? fmt::format(" of at least {}", low)
                                                : std::string();
    if (!value || *value < low || *value > high)
      return Error{fmt::format("{} is a whole number{}, not '{}'", name, range, text)};
    set(*value);
    return ok();
  });
}

void OptionParser::add_choice(const char* names, const std::string& help, const std::vector<std::string>& words,
                              const std::function<void(size_t)>& set) {
  const auto take = [name = long_name(names), words, set](const std::string& word) -> Result<> {
    const auto found = std::find(words.begin(), words.end(), word);
    if (found == words.end()) return Error{there_is_no(name, word, words)};
    set(static_cast<size_t>(found - words.begin()));
    return ok();
  };
  add_parsed(names, joined(words, "|").c_str(), help, take);
  known(words);
}

void OptionParser::add_action(const char* names, const std::string& help, const std::function<void()>& act) {
  parts_->declared(parts_->app.add_flag_callback(well_formed(names), act, help));
}

void OptionParser::word(const char* name, std::string& value, const std::string& help, Need need) {
  parts_->declared(parts_->app.add_option(well_formed(name), value, help))->required(need == Need::kRequired);
}

void OptionParser::words(const char* shown, std::vector<std::string>& values, const std::string& help) {
  parts_->typed.emplace(parts_->declared(parts_->app.add_option("words", values, help)), shown);
}

void OptionParser::known(std::vector<std::string> values) { parts_->known[parts_->last] = std::move(values); }

void OptionParser::section(const char* title) { parts_->section = title; }

void OptionParser::sets(const void* what) { parts_->group[parts_->last] = what; }

void OptionParser::either(std::vector<std::string> names) { parts_->contradictory.push_back(std::move(names)); }

void OptionParser::chose(const void* what, const std::string& names, bool is_same) {
  const auto [first, fresh] = parts_->chosen.try_emplace(what, long_name(names));
  if (!fresh && !is_same) parts_->note(contradiction(first->second, long_name(names)));
}

void OptionParser::command(std::vector<std::string>& command) {
  parts_->app.prefix_command();
  parts_->command = &command;
}

void OptionParser::describe(OptionTable& table) const {
  table.command = parts_->app.get_name();
  table.about = parts_->app.get_description();
  table.list = parts_->list;
  table.runs_command = parts_->command != nullptr;
  for (const CLI::Option* option : parts_->app.get_options()) {
    const auto found = parts_->known.find(option);
    std::vector<std::string> known = found == parts_->known.end() ? std::vector<std::string>{} : found->second;
    if (option->get_positional()) {
      const auto typed = parts_->typed.find(option);
      const std::string name = typed != parts_->typed.end() ? typed->second : option->get_name(true);
      const bool optional = typed == parts_->typed.end() && !option->get_required();
      table.words.push_back({name, option->get_description(), optional ? "[" + name + "]" : name, std::move(known)});
      continue;
    }
    OptionRow row;
    for (const std::string& name : option->get_snames()) row.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) row.names.push_back("--" + name);
    row.known = std::move(known);
    if (const auto group = parts_->group.find(option); group != parts_->group.end()) row.group = group->second;
    row.help = option->get_description();
    if (const auto section = parts_->sections.find(option); section != parts_->sections.end())
      row.section = section->second;
    row.value = option->get_expected_max() == 0 ? std::string() : option->get_type_name();
    row.alone = option->get_expected_min() == 0 && !row.value.empty();
    row.at_commas = option->get_delimiter() == ',';
    row.repeats = option->get_expected_max() > 1;
    table.options.push_back(std::move(row));
  }
}

// --all is not an option of most verbs; with --help all verbs accept it.
std::string OptionParser::help_text(const Arguments& arguments) const {
  OptionTable table;
  describe(table);
  const std::string verb = table.command.substr(table.command.rfind(' ') + 1);
  const bool all = std::find(arguments.begin(), arguments.end(), "--all") != arguments.end();
  return help_page(table, help_of(verb), all, text_width(1));
}

// For an error about an option that comes only from a file: it begins with the place.
Error OptionParser::blamed(Error error, const OptionTable& table, const Settings& settings,
                           const Arguments& arguments) const {
  for (const Setting& setting : settings) {
    const std::string name = "--" + table.find(setting.option)->key();
    const bool typed = words_of(table, {setting}, arguments).empty();
    if (typed || error.text.find(name) == std::string::npos) continue;
    error.text = setting.origin + ": " + error.text;
    if (parts_->command == nullptr) status_of_errors = kBadSettings;
    break;
  }
  return error;
}

Result<> OptionParser::check_contradictions(const std::vector<TypedOption>& typed) const {
  for (const std::vector<std::string>& names : parts_->contradictory) {
    const TypedOption* first = nullptr;
    for (const TypedOption& option : typed) {
      const auto is_one = [&](const std::string& name) { return option.row->has_name(name); };
      if (std::none_of(names.begin(), names.end(), is_one)) continue;
      if (first != nullptr && first->row != option.row) return contradiction(first->name, option.name);
      first = &option;
    }
  }
  return ok();
}

// A request for help is always honored, whatever is in files.
Result<Arguments> OptionParser::default_words(const Arguments& arguments, const OptionTable& table,
                                              Settings& settings) const {
  if (settings_source == nullptr || (!arguments.empty() && (arguments[0] == "--help" || arguments[0] == "-h")))
    return Arguments{};
  if (table.options.size() == 1) return Arguments{};  // --help
  const std::string verb = table.command.substr(table.command.rfind(' ') + 1);
  const Settings written = PENNA_TRY(settings_source(verb));
  settings = PENNA_TRY(effective_settings(table, written));
  return words_of(table, settings, arguments);
}

Result<std::string> OptionParser::parse(const Arguments& arguments) {
  CLI::App& app = parts_->app;
  // Listed last.
  parts_->sections[app.set_help_flag("-h,--help", "show this text; with --all, all options")] = "Help";
  if (wanted_table != nullptr) {
    describe(*wanted_table);
    return Error{"the options were asked for"};
  }
  // CLI11 sees the part before a "--" that separates a command, if it was written that way.
  const auto dashes =
      parts_->command == nullptr ? arguments.end() : std::find(arguments.begin(), arguments.end(), "--");
  Arguments ours(arguments.begin(), dashes);
  OptionTable table;
  describe(table);
  const std::vector<TypedOption> typed = typed_options(table, ours);
  const bool wants_help = std::any_of(typed.begin(), typed.end(), [](const TypedOption& one) {
    return one.row != nullptr && one.row->has_name("--help");
  });
  if (wants_help) return help_text(arguments);
  PENNA_TRY(check_options(table, typed));
  PENNA_TRY(check_contradictions(typed));
  Settings settings;
  const auto defaults = default_words(ours, table, settings);
  if (!defaults) {
    if (parts_->command == nullptr) status_of_errors = kBadSettings;
    return defaults.error();
  }
  ours.insert(ours.begin(), defaults->begin(), defaults->end());
  std::reverse(ours.begin(), ours.end());  // as CLI11 expects
  std::optional<Error> wrong = parts_->read(std::move(ours), table);
  if (parts_->error) wrong = in_typed_words(*parts_->error, typed);  // values come before words
  if (wrong) return blamed(*wrong, table, settings, arguments);
  if (parts_->command == nullptr) return std::string();

  // Words unknown to CLI11 start the command, and then the "--" was part of it; or they are a mistake.
  std::vector<std::string>& command = *parts_->command;
  command = app.remaining();
  // A lone "-" is a word. So is anything after the command's name: it is the command's own option.
  if (!command.empty() && command[0].size() > 1 && command[0][0] == '-') return no_such_option(table, command[0]);
  const auto rest = command.empty() && dashes != arguments.end() ? dashes + 1 : dashes;
  command.insert(command.end(), rest, arguments.end());
  return std::string();
}

OptionTable option_table(const std::function<void()>& run) {
  OptionTable table;
  wanted_table = &table;
  run();
  wanted_table = nullptr;
  return table;
}

void use_settings(Result<Settings> (*source)(const std::string& verb)) { settings_source = source; }

int fail(const std::string& text) {
  say(text);
  return kOurFailure;
}

int fail(const char* verb, const std::string& text) {
  say_of(std::string("penna ") + verb, text);
  return kOurFailure;
}

int print(std::string_view text) {
  if (write_all(STDOUT_FILENO, text) || errno == EPIPE) return 0;
  return fail(fmt::format("cannot write to standard output: {}; what is there is incomplete", errno_text(errno)));
}

// Every error includes how to get the verb's help: a user who mistypes an option wants the list, unless the error ends
// with a question that is the answer.
bool may_run(const char* verb, const Error* error, const std::string& help, int* status) {
  if (wanted_table != nullptr) return false;
  if (error != nullptr) {
    if (status_of_errors == kBadSettings) {
      say(error->text);
      *status = kBadSettings;
      return false;
    }
    *status = fail(verb, error->text.ends_with('?')
                             ? error->text
                             : fmt::format("{}; 'penna help {}' shows what is possible", error->text, verb));
    return false;
  }
  if (help.empty()) return true;
  *status = print(help);
  return false;
}

}  // namespace penna
