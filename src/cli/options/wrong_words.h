// SPDX-License-Identifier: MIT
// The sentences about a wrong word of a command line, alike for all verbs.
//
// Invariant: each names the word that is wrong, and what to write in its place.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/options/option_table.h"

namespace penna {

// `name`: as typed, with its dashes.
Error no_such_option(const OptionTable& table, const std::string& name);
// Of words that are no options: one too many; and one that is missing, as the line of usage calls it.
Error unexpected_word(const OptionTable& table, const std::string& word);
Error missing_word(const OptionTable& table);
// Two options of which one makes the other void.
Error contradiction(std::string_view a, std::string_view b);

// All that can be said of the options without their values. The error is about the first that is wrong.
Result<> check_options(const OptionTable& table, const std::vector<TypedOption>& typed);

// An error that begins with one name of an option, with the name that was typed.
Error in_typed_words(Error error, const std::vector<TypedOption>& typed);

}  // namespace penna
