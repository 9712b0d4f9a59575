// SPDX-License-Identifier: MIT
// See completion.h. A line is walked once up to the cursor, like the parser would; then candidates for that place are
// offered.
#include "cli/complete/completion.h"

#include <optional>
#include <utility>

#include "cli/complete/known_names.h"
#include "cli/verbs.h"
#include "options/option_table.h"

namespace penna {
namespace {

constexpr size_t kNone = static_cast<size_t>(-1);

// State of the walk when it arrives at a word.
struct Place {
  const OptionRow* awaiting = nullptr;  // the option that the word is the value of
  bool after_dashes = false;
  size_t words = 0;        // that are not options
  size_t program = kNone;  // index of the command that is recorded
  std::string input;       // the recording to read
};

bool is_option(const std::string& word) { return word.size() > 1 && word[0] == '-'; }

// The option that `word` is; `*value`: any value contained in it, as in "--format=json" and "-n5".
const OptionRow* option_of(const OptionTable& table, const std::string& word, std::optional<std::string>* value) {
  value->reset();
  if (!word.starts_with("--")) {
    const OptionRow* const row = table.find(word.substr(0, 2));
    if (row != nullptr && word.size() > 2) *value = word.substr(2);
    return row;
  }
  const size_t equals = word.find('=');
  if (equals != std::string::npos) *value = word.substr(equals + 1);
  return table.find(word.substr(0, equals));
}

void step_over(const OptionTable& table, const Arguments& line, size_t at, Place& place) {
  const std::string& word = line[at];
  if (const OptionRow* const row = std::exchange(place.awaiting, nullptr)) {
    if (row->has_name("--input")) place.input = word;
    return;
  }
  if (!place.after_dashes && word == "--") {
    place.after_dashes = true;
    return;
  }
  if (is_option(word) && !place.after_dashes) {
    std::optional<std::string> value;
    const OptionRow* const row = option_of(table, word, &value);
    if (row == nullptr || row->value.empty()) return;
    if (value && row->has_name("--input")) place.input = *value;
    if (!value && !row->alone) place.awaiting = row;
    return;
  }
  ++place.words;
  if (table.runs_command && place.program == kNone) place.program = at;
  if (word.ends_with(".penna")) place.input = word;
}

// Up to the cursor. The words after it only determine the program or recording: "penna record -F <here> ./app".
Place walk(const OptionTable& table, const Arguments& line, size_t begin, size_t cursor) {
  Place place;
  for (size_t at = begin; at < cursor && place.program == kNone; ++at) step_over(table, line, at, place);
  return place;
}

// The words after the one at the cursor, whose kind does not matter.
Place beyond(const OptionTable& table, const Arguments& line, size_t cursor, Place place) {
  place.awaiting = nullptr;
  for (size_t at = cursor + 1; at < line.size() && place.program == kNone; ++at) step_over(table, line, at, place);
  return place;
}

class Offer {
 public:
  // `word`: what is typed. `fixed`: the length of the part before the one that is completed.
  Offer(const std::string& word, size_t fixed) : before_(word.substr(0, fixed)), typed_(word.substr(fixed)) {}

  const std::string& typed() const { return typed_; }
  void add(const std::string& word, const std::string& about = {}) {
    if (word.starts_with(typed_)) completion.candidates.push_back({before_ + word, about});
  }
  void add(const std::vector<std::string>& words) {
    for (const std::string& word : words) add(word);
  }

  Completion completion;

 private:
  std::string before_, typed_;
};

// The first clause of a help text.
std::string clause(const std::string& help) {
  const std::string text = help.substr(0, help.find_first_of(";\n"));
  constexpr size_t kRoom = 70;
  if (text.size() <= kRoom) return text;
  const size_t blank = text.rfind(' ', kRoom);
  return text.substr(0, blank == std::string::npos ? kRoom : blank) + "...";
}

bool names_functions(const OptionRow& row) {
  for (const char* name : {"-F", "-N", "-A", "-R", "-T", "--hide", "--caller", "--paths-to"})
    if (row.has_name(name)) return true;
  return false;
}

// By the value placeholders of the help: they are the same in all verbs.
void offer_by_kind(const std::string& shown, Offer& offer) {
  const auto has = [&shown](const char* word) { return shown.find(word) != std::string::npos; };
  std::string& by_shell = offer.completion.by_shell;
  if (has("PID"))
    for (const NamedProcess& process : own_processes()) offer.add(process.pid, process.name);
  if (has("REC") || shown == "A B") by_shell = "recordings";
  if (has("BIN")) by_shell = has("REC") ? "files" : "commands";
  if (has("FILE") || shown == "OUT") by_shell = "files";
  if (has("DIR")) by_shell = "directories";
}

void offer_value(const OptionRow& row, const Place& place, const Arguments& line, Offer& offer) {
  const std::string program = place.program == kNone ? std::string() : line[place.program];
  offer.add(row.known);
  if (names_functions(row))
    offer.add(program.empty() ? functions_of_recording(place.input, offer.typed())
                              : functions_of_program(program, offer.typed()));
  if (row.has_name("--event") && !program.empty()) offer.add(points_of_program(program));
  if (row.known.empty()) offer_by_kind(row.value, offer);
}

Completion complete_value(const OptionRow& row, const std::string& word, size_t begin, const Place& place,
                          const Arguments& line) {
  const size_t comma = row.at_commas ? word.rfind(',') : std::string::npos;
  Offer offer(word, comma != std::string::npos && comma >= begin ? comma + 1 : begin);
  offer_value(row, place, line, offer);
  return std::move(offer.completion);
}

Completion complete_option(const OptionTable& table, const std::string& word) {
  Offer offer(word, 0);
  for (const OptionRow& row : table.options)
    for (const std::string& name : row.names)
      if (name.size() > 2 || word == "-") offer.add(name, clause(row.help));
  return std::move(offer.completion);
}

// Only the verb knows which position has which meaning, so all possible candidates are offered.
Completion complete_word(const OptionTable& table, const std::string& word, const Place& place) {
  Offer offer(word, 0);
  if (table.runs_command) offer.completion.by_shell = "commands";
  for (const WordRow& row : table.words) {
    offer.add(row.known);
    if (row.typed.starts_with("FUNC") && place.words == 0)
      offer.add(functions_of_recording(place.input, offer.typed()));
    else
      offer_by_kind(row.typed, offer);
  }
  return std::move(offer.completion);
}

Completion complete_verb(const std::string& word) {
  Offer offer(word, 0);
  for (const Verb& verb : verbs()) offer.add(verb.name, clause(verb.summary));
  if (word.starts_with('-'))
    for (const char* option : {"--help", "--version"}) offer.add(std::string(option));
  // penna CMD: any command, but not mixed with the verbs.
  if (offer.completion.candidates.empty()) offer.completion.by_shell = "commands";
  return std::move(offer.completion);
}

}  // namespace

Completion complete_line(const Arguments& words, size_t cursor) {
  Arguments line = words;
  if (cursor >= line.size()) line.resize(cursor + 1);
  if (cursor == 0) return complete_verb(line[0]);
  const Verb* verb = find_verb(line[0]);
  const size_t begin = verb == nullptr ? 0 : 1;
  if (verb == nullptr) verb = find_verb("record");  // penna [OPTIONS] CMD...
  const OptionTable table = option_table(*verb);
  const Place place = walk(table, line, begin, cursor);
  const std::string& word = line[cursor];
  if (place.program != kNone) return {{}, "command " + std::to_string(place.program)};
  const Place all = beyond(table, line, cursor, place);
  if (place.awaiting != nullptr) return complete_value(*place.awaiting, word, 0, all, line);
  if (!word.starts_with('-') || place.after_dashes) return complete_word(table, word, all);
  std::optional<std::string> value;
  const OptionRow* const row = option_of(table, word, &value);
  if (row != nullptr && value && !row->value.empty())
    return complete_value(*row, word, word.size() - value->size(), all, line);
  return complete_option(table, word);
}

}  // namespace penna
