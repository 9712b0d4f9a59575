// SPDX-License-Identifier: MIT
// Settings as TOML text: an option for all verbs is a key, those of one verb are in a table of its name.
//
// Invariant: only the form is checked here, and the names of tables; whether a verb has such an option is known later.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "options/settings.h"

namespace penna {

struct WrittenSetting {
  std::string verb;  // empty: for all verbs that have such an option
  Setting setting;
};

// Why a table may not have this name, in a sentence; empty: it is a verb's.
using WhyNoVerb = std::string (*)(const std::string& name);

// Appends the settings in text read from `path`. The error is one sentence that begins with the file and line.
Result<> add_toml(const std::string& text, const std::string& path, int layer, WhyNoVerb why_no_verb,
                  std::vector<WrittenSetting>& settings);

// A text as TOML writes it, in quotes.
std::string toml_text(const std::string& text);

}  // namespace penna
