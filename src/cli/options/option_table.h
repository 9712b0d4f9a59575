// SPDX-License-Identifier: MIT
// What a verb takes, as data. Completion, manual pages and configuration files read it.
//
// Invariant: it is made of the declarations that the verb parses its command line by, so it holds no other option.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace penna {

struct OptionRow {
  std::vector<std::string> names;  // "-o", "--output"
  std::string value;               // what stands for the value in the help; empty: it takes none
  std::vector<std::string> known;  // values that there are; empty: any, or nobody knows
  std::string help;
  std::string section;          // its title in the help; empty: none
  const void* group = nullptr;  // of options that stand for one another: --json and --format
  bool alone = false;           // may stand without its value
  bool at_commas = false;       // a value may hold several
  bool repeats = false;         // may be given several times

  bool has_name(const std::string& name) const;
  // "output" of "-o,--output": its name in configuration files.
  std::string key() const;
};

// Words that are no options, as one declaration: "[REC] [TABLE]".
struct WordRow {
  std::string typed, help;
  std::string usage;  // as in the line of usage: "[REC]"
  std::vector<std::string> known;
};

// What a verb offers: a word, and what it is.
struct AboutRow {
  std::string word, is;
};

struct OptionTable {
  std::string command;  // "penna report"
  std::string about;
  std::vector<AboutRow> list;  // below it
  std::vector<OptionRow> options;
  std::vector<WordRow> words;
  bool runs_command = false;  // the first word begins a command

  // Null: there is no such option. `name`: with its dashes.
  const OptionRow* find(const std::string& name) const;
};

struct OptionSection {
  std::string title;  // empty: none
  std::vector<const OptionRow*> rows;
};

// By their titles, in the order of the first option of each; what is declared apart and has one title is one section.
std::vector<OptionSection> in_sections(const std::vector<const OptionRow*>& rows);

// An option of a command line.
struct TypedOption {
  std::string name;                // as it was typed, without a value: "-n", "--top"
  const OptionRow* row = nullptr;  // null: there is none of that name
  bool has_value = false;          // behind a '=', or in the same word
  bool lacks_value = false;        // needs one, and the line ends
};
// All of them; what is behind the first word of a command is its own.
std::vector<TypedOption> typed_options(const OptionTable& table, const std::vector<std::string>& arguments);

// The table of the verb that `run` starts without arguments. It parses nothing then, and does nothing.
OptionTable option_table(const std::function<void()>& run);

}  // namespace penna
