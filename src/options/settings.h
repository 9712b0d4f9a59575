// SPDX-License-Identifier: MIT
// Defaults of options from outside the command line: which of them count, and their words.
//
// Invariant: the command line overrides all of them, and every error names the place where the setting was written.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "options/option_table.h"

namespace penna {

struct Setting {
  std::string option;               // "--frames", "-q"
  std::vector<std::string> values;  // none: it is a flag
  bool on = true;                   // for a flag
  bool for_all = false;             // verbs without such an option ignore it
  int layer = 0;                    // a higher layer overrides a lower one
  std::string origin;               // "/home/ada/.penna.toml:3", "PENNA_OPTIONS"
};
using Settings = std::vector<Setting>;

// Those that apply to the verb with this table, among all written for it, lower layers first. The error is about one
// that it cannot accept.
Result<Settings> effective_settings(const OptionTable& table, const Settings& written);

// The equivalent command line words, except for options that `arguments` already contain.
std::vector<std::string> words_of(const OptionTable& table, const Settings& settings,
                                  const std::vector<std::string>& arguments);

}  // namespace penna
