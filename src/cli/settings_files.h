// SPDX-License-Identifier: MIT
// Where defaults of options are stored: a user file, a project file, and the environment; later ones override earlier
// ones (docs/configuration.md).
//
// Invariant: files of other users are ignored. Otherwise anyone who can write above our directory could change our
// behavior.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "options/settings_toml.h"

namespace penna {

struct SettingsFile {
  std::string path;
  bool is_read = false;
  std::string why_not;  // missing, or another user's
};

struct WrittenSettings {
  std::vector<SettingsFile> files;
  std::vector<WrittenSetting> lines;  // lower layers first
};

// The error is one sentence that begins with the file and line.
Result<WrittenSettings> read_settings();

// Those for a verb, by its name. Reports which files are not read because they belong to another user.
Result<Settings> settings_of_verb(const std::string& verb);

// Of words as PENNA_OPTIONS has them: "--color=never report --frames=5".
Result<> add_words(const std::string& words, int layer, WrittenSettings& settings);

}  // namespace penna
