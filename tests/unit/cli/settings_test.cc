// SPDX-License-Identifier: MIT
// Defaults of options: what is read from files and words, which settings apply, and the resulting words.
#include "options/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/settings_files.h"
#include "cli/verbs.h"

namespace penna::settings_test {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const OptionTable& report_table() {
  static const OptionTable kTable = option_table(*find_verb("report"));
  return kTable;
}

Settings of_report(const WrittenSettings& written) {
  Settings settings;
  for (const WrittenSetting& line : written.lines)
    if (line.verb.empty() || line.verb == "report") settings.push_back(line.setting);
  return settings;
}

std::string error_of(const std::string& toml) {
  WrittenSettings written;
  const auto added = add_toml(toml, "file", 0, why_no_verb, written.lines);
  if (!added) return added.error().text;
  const auto effective = effective_settings(report_table(), of_report(written));
  return effective ? "accepted" : effective.error().text;
}

// The words that a file and then PENNA_OPTIONS put in front of `typed`.
std::vector<std::string> words(const std::string& toml, const std::string& variable, const Arguments& typed) {
  WrittenSettings written;
  EXPECT_TRUE(add_toml(toml, "file", 0, why_no_verb, written.lines).has_value());
  EXPECT_TRUE(add_words(variable, 1, written).has_value());
  const auto effective = effective_settings(report_table(), of_report(written));
  EXPECT_TRUE(effective.has_value()) << effective.error().text;
  return words_of(report_table(), *effective, typed);
}

TEST(settings, WordsOfAFile) {
  EXPECT_THAT(words("frames = 3\nquiet = true\n[report]\nnet = true\nascii = false\nwhere = ['a > 1', "
                    "'b']\n[record]\nfree-stacks = true",
                    "", {}),
              ElementsAre("--frames=3", "--net", "--where=a > 1", "--where=b"));
}

TEST(settings, AStrongerLayerReplacesWhatStandsForTheSame) {
  EXPECT_THAT(words("[report]\nwhere = ['a', 'b']\njson = true", "--format=csv report --where=c", {}),
              ElementsAre("--format=csv", "--where=c"));
}

TEST(settings, TheCommandLineMakesVoid) {
  const std::string toml = "[report]\ntop = 3\njson = true\nnet = true";
  EXPECT_THAT(words(toml, "", {"-n5", "--format", "csv", "rec", "--net"}), IsEmpty());
  EXPECT_THAT(words(toml, "", {"--top=5", "--sort", "--json"}), ElementsAre("--json", "--net"));
}

TEST(settings, ErrorsBeginWithThePlace) {
  EXPECT_THAT(error_of("[report]\n\nx = = 1"), HasSubstr("file:3: "));
  EXPECT_THAT(error_of("[report]\nfarmes = 1"),
              HasSubstr("file:2: penna report has no option farmes (did you mean 'frames'?)"));
  EXPECT_THAT(error_of("[report]\nhelp = true"), EndsWith("file:2: penna report has no option help"));
  EXPECT_THAT(error_of("[report]\nnet = 'x'"), HasSubstr("file:2: net is true or false"));
  EXPECT_THAT(error_of("[report]\nframes = true"), HasSubstr("file:2: frames needs a value: N"));
  EXPECT_THAT(error_of("[report]\nframes = 1979-05-27"), HasSubstr("file:2: frames is a text, a number"));
  EXPECT_THAT(error_of("[nothing]"), HasSubstr("file:1: there is no verb 'nothing'"));
  EXPECT_EQ("accepted", error_of("stack-depth = 3"));  // of another verb
}

}  // namespace
}  // namespace penna::settings_test
