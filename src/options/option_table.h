// SPDX-License-Identifier: MIT
// A verb's options as data. Used by completion, manual pages and configuration files.
//
// Invariant: it is generated from the declarations that the verb parses its command line with, so it cannot differ from
// them.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace penna {

struct OptionRow {
  std::vector<std::string> names;  // "-o", "--output"
  std::string value;               // the placeholder for the value in the help; empty: it takes none
  std::vector<std::string> known;  // possible values; empty: any, or unknown
  std::string help;
  std::string section;          // its title in the help; empty: none
  const void* group = nullptr;  // of equivalent options: --json and --format
  bool alone = false;           // its value is optional
  bool at_commas = false;       // a value may contain several
  bool repeats = false;         // may be given several times

  bool has_name(const std::string& name) const;
  // "output" for "-o,--output": its name in configuration files.
  std::string key() const;
};

// Words that are not options, as one declaration: "[REC] [TABLE]".
struct WordRow {
  std::string typed, help;
  std::string usage;  // as in the usage line: "[REC]"
  std::vector<std::string> known;
};

// An entry of a verb's list: a word, and its description.
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

// Grouped by title, in the order of each title's first option; options declared separately with one title form one
// section.
std::vector<OptionSection> in_sections(const std::vector<const OptionRow*>& rows);

// An option of a command line.
struct TypedOption {
  std::string name;                // as typed, without a value: "-n", "--top"
  const OptionRow* row = nullptr;  // null: no option of that name
  bool has_value = false;          // after a '=', or in the same word
  bool lacks_value = false;        // needs one, and the line ends
};
// All of them; anything after the first word of a command belongs to it.
std::vector<TypedOption> typed_options(const OptionTable& table, const std::vector<std::string>& arguments);

// The table of the verb that `run` starts without arguments. It then parses nothing and has no effect.
OptionTable option_table(const std::function<void()>& run);

}  // namespace penna
