// SPDX-License-Identifier: MIT
// Help texts: what is shown first, what only with --all, and how it is wrapped.
#include "options/help_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "cli/verbs.h"
#include "options/verb_help.h"
#include "report/text.h"

namespace penna {
namespace {

using testing::HasSubstr;
using testing::Not;

OptionRow row(std::vector<std::string> names, const char* value, const char* help, const char* section) {
  OptionRow row;
  row.names = std::move(names);
  row.value = value;
  row.help = help;
  row.section = section;
  return row;
}

OptionTable table_of(std::vector<OptionRow> rows) {
  OptionTable table;
  table.command = "penna try";
  table.about = "Tries.";
  table.options = std::move(rows);
  return table;
}

TEST(HelpPage, CommonOptionsComeFirstAndAloneUnlessAllAreAskedFor) {
  const OptionTable table =
      table_of({row({"-a"}, "", "first", "Letters"), row({"-b", "--bee"}, "N", "second", "Letters"),
                row({"--sea"}, "X|Y", "third", "Water"), row({"-h"}, "", "this", "Help")});
  static constexpr const char* kCommon[] = {"--sea", "-b"};
  static constexpr Example kExamples[] = {{"penna try -a", "one"}, {"penna try --bee 2", "two"}};
  const std::string head =
      "Usage: penna try [OPTIONS]\nTries.\n\nExamples:\n  penna try -a       one\n  penna try --bee 2  two\n\n"
      "Common options:\n  --sea X|Y                   third\n  -b,--bee N                  second\n";
  EXPECT_EQ(help_page(table, {kCommon, kExamples}, false, 80), head + "\n2 more options: penna try --help --all\n");
  EXPECT_EQ(help_page(table, {kCommon, kExamples}, true, 80),
            head + "\nLetters:\n  -a                          first\n\nHelp:\n  -h                          this\n");
  EXPECT_THAT(help_page(table, {}, false, 80), HasSubstr("\nWater:\n  --sea X|Y"));
}

TEST(HelpPage, TextsAreWrappedInTheirColumn) {
  const OptionTable table =
      table_of({row({"--long-name-of-an-option"}, "VALUE|OTHER|THIRD|FOURTH", "a b c d e f g h i j", "")});
  EXPECT_THAT(help_page(table, {}, true, 30),
              HasSubstr("  --long-name-of-an-option\n  VALUE|OTHER|THIRD|FOURTH\n               a b c d e f g h\n"
                        "               i j\n"));
}

TEST(HelpPage, FitsIntoEveryWidthForEveryVerb) {
  for (const Verb& verb : verbs())
    for (const size_t width : {40u, 80u, 120u}) {
      std::istringstream lines(help_page(option_table(verb), help_of(verb.name), true, width));
      for (std::string line; std::getline(lines, line);) {
        const bool is_to_be_copied = line.starts_with("  penna ") || line.starts_with("  PENNA_OPTIONS");  // an example
        EXPECT_TRUE(is_to_be_copied || display_width(line) <= width) << verb.name << ": " << line;
      }
    }
}

TEST(HelpPage, EveryVerbHasThreeExamplesAndItsCommonOptionsExist) {
  for (const Verb& verb : verbs()) {
    const OptionTable table = option_table(verb);
    EXPECT_GE(help_of(verb.name).examples.size(), 3u) << verb.name;
    for (const Example& one : help_of(verb.name).examples)
      EXPECT_THAT(one.command, HasSubstr(std::string("penna ") + verb.name)) << one.command;
    for (const char* name : help_of(verb.name).common) EXPECT_NE(table.find(name), nullptr) << verb.name << " " << name;
    for (const OptionRow& option : table.options)
      EXPECT_FALSE(option.section.empty() && !help_of(verb.name).common.empty()) << verb.name << " " << option.key();
  }
}

TEST(HelpPage, WithAllEveryOptionIsThereOnce) {
  for (const Verb& verb : verbs()) {
    const OptionTable table = option_table(verb);
    const std::string page = help_page(table, help_of(verb.name), true, 200);
    for (const OptionRow& option : table.options) {
      const std::string line = "\n  " + option.names.front();
      const size_t at = page.find(line);
      EXPECT_NE(at, std::string::npos) << verb.name << line;
    }
    EXPECT_THAT(page, Not(HasSubstr("more options")));
  }
}

}  // namespace
}  // namespace penna
