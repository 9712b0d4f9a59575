// SPDX-License-Identifier: MIT
// Where defaults of options are written: a file of the user, one of the project, and the environment; the later ones
// are stronger (docs/configuration.md).
//
// Invariant: no file of another user counts. Who can write above our directory could otherwise change what we do.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options/settings.h"

namespace penna {

struct SettingsFile {
  std::string path;
  bool is_read = false;
  std::string why_not;  // not there, or of another user
};

struct WrittenSettings {
  std::vector<SettingsFile> files;
  struct Line {
    std::string verb;  // empty: of all verbs that have such an option
    Setting setting;
  };
  std::vector<Line> lines;  // the weaker layers first
};

// The error is one sentence that begins with the file and line.
Result<WrittenSettings> read_settings();

// Those for a verb, by its name. Says which files are not read because they are another user's.
Result<Settings> settings_of_verb(const std::string& verb);

// The settings of a text in TOML, which came from `path`; for tests.
Result<> add_toml(const std::string& text, const std::string& path, int layer, WrittenSettings& settings);
// A text as TOML writes it, in quotes.
std::string toml_text(const std::string& text);
// Of words as PENNA_OPTIONS has them: "--color=never report --frames=5".
Result<> add_words(const std::string& words, int layer, WrittenSettings& settings);

}  // namespace penna
