// SPDX-License-Identifier: MIT
// Defaults of options that come from elsewhere than the command line: which of them count, and their words.
//
// Invariant: the command line is stronger than any of them, and every complaint names the place where it was written.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options/option_table.h"

namespace penna {

struct Setting {
  std::string option;               // "--frames", "-q"
  std::vector<std::string> values;  // none: it is a flag
  bool on = true;                   // of a flag
  bool for_all = false;             // verbs without such an option pass it over
  int layer = 0;                    // of a higher layer it is stronger
  std::string origin;               // "/home/ada/.penna.toml:3", "PENNA_OPTIONS"
};
using Settings = std::vector<Setting>;

// Those that count for the verb with this table, of all that are written for it, the weaker layers first. The error is
// about one that it cannot take.
Result<Settings> effective_settings(const OptionTable& table, const Settings& written);

// The words of a command line that they stand for, but for options that `arguments` hold already.
std::vector<std::string> words_of(const OptionTable& table, const Settings& settings,
                                  const std::vector<std::string>& arguments);

}  // namespace penna
