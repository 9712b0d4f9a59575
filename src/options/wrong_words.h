// SPDX-License-Identifier: MIT
// The sentences about wrong words of a command line, alike for all verbs.
//
// Invariant: each names the wrong word, and what to write instead.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "options/option_table.h"

namespace penna {

// `name`: as typed, with its dashes.
Error no_such_option(const OptionTable& table, const std::string& name);
// For words that are not options: one too many; and a missing one, named as in the usage line.
Error unexpected_word(const OptionTable& table, const std::string& word);
Error missing_word(const OptionTable& table);
// Two options of which one cancels the other.
Error contradiction(std::string_view a, std::string_view b);

// All checks of the options that do not need their values. The error is about the first wrong one.
Result<> check_options(const OptionTable& table, const std::vector<TypedOption>& typed);

// An error that begins with one name of an option, rewritten with the name that was typed.
Error in_typed_words(Error error, const std::vector<TypedOption>& typed);

}  // namespace penna
