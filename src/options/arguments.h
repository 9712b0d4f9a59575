// SPDX-License-Identifier: MIT
// How a verb reads its command line: CLI11 behind a Result, so that no exception leaves arguments.cc.
//
// Why hidden: its header costs a compiler eight seconds. Usage, in each cmd_*.cc: parse_x() fills XOptions with an
// OptionParser and can be tested separately; x_verb() = run_parsed("x", parse_x(...), cmd_x).
// Invariant: wrong usage gives one sentence on stderr and exit status 125, and nothing else happens.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "options/option_table.h"
#include "options/settings.h"

namespace penna {

using Arguments = std::vector<std::string>;

inline constexpr int kOurFailure = 125;  // as in env(1) and timeout(1): the tool failed, not the program
inline constexpr int kBadSettings = 2;   // from verbs that run no command: a settings file is wrong

// The result of a parse_*(): options, or the requested help text.
template <typename Options>
struct Parsed {
  Options options;
  std::string help;
};

// The options and words that a verb accepts. Each is declared with the variable that it sets, which must outlive
// parse(). `names`: "-o,--output" for an option, "REC" for a word. `shown`: the placeholder for its value in the help
// text.
class OptionParser {
 public:
  // `about`: one sentence or more; `command`: as typed, "penna report".
  OptionParser(const std::string& about, const char* command);
  ~OptionParser();
  OptionParser(const OptionParser&) = delete;
  OptionParser& operator=(const OptionParser&) = delete;

  // A row of the list below `about`.
  void about_row(const char* word, const char* is);
  void flag(const char* names, bool& value, const std::string& help);
  void text(const char* names, std::string& value, const char* shown, const std::string& help);
  // Like text(), but the option may stand by itself: then the value is `alone`.
  void text_or(const char* alone, const char* names, std::string& value, const char* shown, const std::string& help);
  // Parsed while the command line is read: an error of `read`, a Result<Value>(const std::string&), becomes parse()'s.
  // With empty text ("") the option counts as not given.
  template <typename Value, typename Parse>
  void value(const char* names, std::optional<Value>& value, const char* shown, const std::string& help, Parse read) {
    add_parsed(names, shown, help, [&value, read](const std::string& text) -> Result<> {
      if (!text.empty()) value = PENNA_TRY(read(text));
      return ok();
    });
  }
  // The same for an option that may be repeated; here "" is a value.
  template <typename Value, typename Parse>
  void values(const char* names, std::vector<Value>& values, const char* shown, const std::string& help, Parse read) {
    add_repeated(names, shown, help, [&values, read](const std::string& text) -> Result<> {
      values.push_back(PENNA_TRY(read(text)));
      return ok();
    });
  }
  // May be repeated; kAtCommas: each may contain several.
  enum class Split { kNever, kAtCommas };
  void texts(const char* names, std::vector<std::string>& values, const char* shown, const std::string& help,
             Split split = Split::kNever);

  // An integer from `low` to `high`, in decimal. Number: an unsigned type, or an optional of one.
  template <typename Number>
  void number(const char* names, Number& value, const char* shown, const std::string& help, uint64_t low = 0,
              uint64_t high = std::numeric_limits<typename Unsigned<Number>::type>::max()) {
    const auto set = [&value](uint64_t given) { value = static_cast<typename Unsigned<Number>::type>(given); };
    add_number(names, shown, help, low, high, set);
  }

  template <typename Value>
  struct Choice {
    const char* word;
    Value value;
  };
  // One of a few words; the help shows them all.
  template <typename Value>
  void choice(const char* names, Value& value, std::initializer_list<Choice<Value>> choices, const std::string& help) {
    std::vector<std::string> words;
    std::vector<Value> values;
    for (const Choice<Value>& one : choices) {
      words.push_back(one.word);
      values.push_back(one.value);
    }
    add_choice(names, help, words, [this, &value, values, name = std::string(names)](size_t index) {
      chose(&value, name, value == values[index]);
      value = values[index];
    });
    sets(&value);
  }

  // A flag that sets a choice to one of its values.
  template <typename Value>
  void shorthand(const char* names, Value& value, Value given, const std::string& help) {
    add_action(names, help, [this, &value, given, name = std::string(names)] {
      chose(&value, name, value == given);
      value = given;
    });
    sets(&value);
  }

  // Words that are not options.
  enum class Need { kOptional, kRequired };
  void word(const char* name, std::string& value, const std::string& help, Need need = Need::kOptional);
  // `shown`: how they are typed, "FUNC [REC]"; the verb interprets their positions.
  void words(const char* shown, std::vector<std::string>& values, const std::string& help);
  // Existing values of the option or words declared last: completion offers them.
  void known(std::vector<std::string> values);
  // The title in the help above the options declared from here on, until the next one.
  void section(const char* title);
  // The option declared last sets `what`. If several do, one on the command line overrides the defaults of the others.
  void sets(const void* what);
  // The first word begins a command, which is everything from there on, whatever it looks like. A "--" may precede it.
  void command(std::vector<std::string>& command);

  // Two of these on one command line contradict each other: by name, "--merge".
  void either(std::vector<std::string> names);

  // Sets the variables. The value is the help text if --help was given, else empty.
  Result<std::string> parse(const Arguments& arguments);

 private:
  template <typename Number>
  struct Unsigned {
    using type = Number;
  };
  template <typename Number>
  struct Unsigned<std::optional<Number>> {
    using type = Number;
  };
  void add_number(const char* names, const char* shown, const std::string& help, uint64_t low, uint64_t high,
                  const std::function<void(uint64_t)>& set);
  void add_choice(const char* names, const std::string& help, const std::vector<std::string>& words,
                  const std::function<void(size_t)>& set);

  using Take = std::function<Result<>(const std::string& text)>;
  void add_parsed(const char* names, const char* shown, const std::string& help, const Take& take);
  void add_repeated(const char* names, const char* shown, const std::string& help, const Take& take);
  // Among options that set one variable, a second one must give it the same value.
  void chose(const void* what, const std::string& names, bool is_same);
  void add_action(const char* names, const std::string& help, const std::function<void()>& act);

  void describe(OptionTable& table) const;
  std::string help_text(const Arguments& arguments) const;
  Error blamed(Error error, const OptionTable& table, const Settings& settings, const Arguments& arguments) const;
  Result<> check_contradictions(const std::vector<TypedOption>& typed) const;
  Result<Arguments> default_words(const Arguments& arguments, const OptionTable& table, Settings& settings) const;

  struct Parts;  // CLI11's
  std::unique_ptr<Parts> parts_;
};

// Where parse() gets a verb's defaults, by its name; without, there are none. Set by main(), so that tests and other
// programs do not depend on the user's files.
void use_settings(Result<Settings> (*source)(const std::string& verb));

// "penna: TEXT" to stderr, for a verb "penna VERB: TEXT"; returns 125.
int fail(const std::string& text);
int fail(const char* verb, const std::string& text);
// Text of ours on standard output, such as help: 0, or fails. A reader that left is no failure.
int print(std::string_view text);

// Prints an error of parse_*() with how to get the verb's help, or the help, or nothing: true if the verb may run.
bool may_run(const char* verb, const Error* error, const std::string& help, int* status);

template <typename Options>
int run_parsed(const char* verb, const Result<Parsed<Options>>& parsed, int (*run)(const Options&)) {
  int status = 0;
  const bool good = parsed.has_value();
  if (!may_run(verb, good ? nullptr : &parsed.error(), good ? parsed->help : std::string(), &status)) return status;
  return run(parsed->options);
}

}  // namespace penna
