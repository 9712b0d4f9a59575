// SPDX-License-Identifier: MIT
// The command line of penna record: where our options end and the command begins.
#include "options/record_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace penna::record_options_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

RecordOptions parsed(const Arguments& arguments) {
  const auto result = parse_record(arguments);
  if (!result) ADD_FAILURE() << result.error().text;
  return result ? result->options : RecordOptions{};
}

std::string refused(const Arguments& arguments) {
  const auto result = parse_record(arguments);
  return result ? "accepted" : result.error().text;
}

constexpr uint32_t kAll = (1u << PENNA_CLASS_COUNT) - 1;

TEST(ParseRecord, DefaultsRecordEverything) {
  const RecordOptions options = parsed({"ls"});
  EXPECT_THAT(options.command, ElementsAre("ls"));
  EXPECT_EQ(options.classes, kAll);
  EXPECT_EQ(options.on_full, PENNA_ON_FULL_BLOCK);
  EXPECT_EQ(options.output, "");
  EXPECT_FALSE(options.force);
  EXPECT_FALSE(options.quiet);
  EXPECT_EQ(options.stack_depth, static_cast<uint32_t>(PENNA_MAX_STACK_DEPTH));
}

TEST(ParseRecord, PointsMayHaveStacks) {
  EXPECT_THAT(parsed({"ls"}).stacked_points, ElementsAre());
  EXPECT_THAT(parsed({"--point-stacks", "ls"}).stacked_points, ElementsAre("*"));
  EXPECT_THAT(parsed({"--point-stacks", "ls"}).filter_words, ElementsAre("point-stacks"));
  EXPECT_THAT(parsed({"-k", "points", "-T", "a:b@stack", "-T", "c:*@stack", "ls"}).stacked_points,
              ElementsAre("a:b", "c:*"));
  EXPECT_THAT(refused({"-k", "alloc", "--point-stacks", "ls"}), HasSubstr("are about points"));
  EXPECT_THAT(refused({"-k", "calls", "-T", "a:b@stack", "ls"}), HasSubstr("are about points"));
  EXPECT_THAT(refused({"-k", "points", "-T", "work@stack", "ls"}), HasSubstr("-T is about calls"));
  EXPECT_THAT(refused({"-T", std::string(300, 'x') + ":y@stack", "-e", std::string(300, 'x'), "ls"}),
              HasSubstr("too long"));
}

TEST(ParseRecord, OptionsBehindTheCommandAreTheCommands) {
  EXPECT_THAT(parsed({"ls", "-o", "x", "--force", "-h"}).command, ElementsAre("ls", "-o", "x", "--force", "-h"));
  EXPECT_EQ(parsed({"ls", "-o", "x"}).output, "");
  const RecordOptions options = parsed({"-o", "a.penna", "python3", "-c", "x=[1]", "-q"});
  EXPECT_EQ(options.output, "a.penna");
  EXPECT_FALSE(options.quiet);
  EXPECT_THAT(options.command, ElementsAre("python3", "-c", "x=[1]", "-q"));
}

TEST(ParseRecord, DashesSeparate) {
  EXPECT_THAT(parsed({"--", "ls", "-l"}).command, ElementsAre("ls", "-l"));
  EXPECT_THAT(parsed({"-q", "--", "report"}).command, ElementsAre("report"));
  EXPECT_THAT(parsed({"--", "-odd-name", "-o"}).command, ElementsAre("-odd-name", "-o"));
  EXPECT_THAT(parsed({"--", "ls", "--", "x"}).command, ElementsAre("ls", "--", "x"));
  // Behind the command's first word they are the command's own.
  EXPECT_THAT(parsed({"git", "log", "--", "file"}).command, ElementsAre("git", "log", "--", "file"));
  EXPECT_THAT(parsed({"-q", "ls", "--"}).command, ElementsAre("ls", "--"));
}

TEST(ParseRecord, EmptyArgumentsOfTheCommandStay) {
  EXPECT_THAT(parsed({"printf", "", "a"}).command, ElementsAre("printf", "", "a"));
  EXPECT_THAT(parsed({"--", "printf", ""}).command, ElementsAre("printf", ""));
}

TEST(ParseRecord, Kinds) {
  EXPECT_EQ(parsed({"-k", "alloc", "ls"}).classes, 1u << PENNA_ALLOC);
  EXPECT_EQ(parsed({"-k", "calls,locks", "ls"}).classes, 1u << PENNA_CALLS | 1u << PENNA_LOCKS);
  EXPECT_EQ(parsed({"-k", "calls", "-k", "points", "ls"}).classes, 1u << PENNA_CALLS | 1u << PENNA_POINTS);
  EXPECT_EQ(parsed({"--alloc", "--points", "ls"}).classes, 1u << PENNA_ALLOC | 1u << PENNA_POINTS);
  EXPECT_EQ(parsed({"--kinds=calls,alloc,locks,points", "ls"}).classes, kAll);
  EXPECT_THAT(refused({"-k", "heap", "ls"}), HasSubstr("calls, alloc, locks, points"));
  EXPECT_THAT(refused({"-k", "", "ls"}), HasSubstr("kind"));
}

TEST(ParseRecord, SamplesAndStacksOfFrees) {
  EXPECT_EQ(parsed({"ls"}).sample_bytes, 0u);
  EXPECT_FALSE(parsed({"ls"}).free_stacks);
  EXPECT_EQ(parsed({"--sample-bytes=512k", "ls"}).sample_bytes, 512u << 10);
  EXPECT_EQ(parsed({"--sample-bytes=4M", "ls"}).sample_bytes, 4u << 20);
  EXPECT_EQ(parsed({"--sample-bytes=1024g", "ls"}).sample_bytes, uint64_t{1} << 40);
  EXPECT_EQ(parsed({"--sample-bytes=1024", "ls"}).sample_bytes, 1024u);
  EXPECT_EQ(parsed({"--sample-bytes=512KiB", "ls"}).sample_bytes, 512u << 10);
  EXPECT_EQ(parsed({"--sample-bytes=1MB", "ls"}).sample_bytes, 1'000'000u);
  EXPECT_TRUE(parsed({"--free-stacks", "ls"}).free_stacks);
  for (const char* wrong : {"1023", "0", "-5", "k", "5kb", "1025g", "99999999999999999999", "16777216g"})
    EXPECT_THAT(refused({"--sample-bytes", wrong, "ls"}), HasSubstr("such as 512k")) << wrong;
  EXPECT_THAT(refused({"-k", "calls", "--free-stacks", "ls"}), HasSubstr("add alloc to -k"));
}

TEST(ParseRecord, FunctionsOfLocks) {
  EXPECT_FALSE(parsed({"ls"}).timed_locks);
  const RecordOptions options = parsed({"--lock-functions", "a=b", "--lock-functions=c=d,try=e", "ls"});
  ASSERT_EQ(options.lock_functions.size(), 2u);
  EXPECT_EQ(options.lock_functions[1].text, "c=d,try=e");
  EXPECT_TRUE(options.timed_locks);
  EXPECT_THAT(refused({"--lock-functions=a", "ls"}), HasSubstr("write LOCK=UNLOCK"));
  EXPECT_THAT(refused({"-k", "alloc", "--lock-functions=a=b", "ls"}), HasSubstr("add locks to -k"));
}

TEST(ParseRecord, OtherOptions) {
  const RecordOptions options =
      parsed({"--on-full=drop", "--pool", "16", "--stack-depth", "8", "-f", "-q", "-e", "db:*", "-e", "net:send", "x"});
  EXPECT_EQ(options.on_full, PENNA_ON_FULL_DROP);
  EXPECT_EQ(options.pool_mib, 16u);
  EXPECT_EQ(parsed({"--mem-limit=64M", "ls"}).pool_mib, 64u);
  EXPECT_EQ(parsed({"--pool", "1GiB", "ls"}).pool_mib, 1024u);
  for (const char* wrong : {"3", "4097", "3.9M", "5G", "x"})
    EXPECT_THAT(refused({"--pool", wrong, "ls"}), HasSubstr("--pool")) << wrong;
  EXPECT_EQ(options.stack_depth, 8u);
  EXPECT_TRUE(options.force);
  EXPECT_TRUE(options.quiet);
  EXPECT_THAT(options.point_patterns, ElementsAre("db:*", "net:send"));
  EXPECT_THAT(options.command, ElementsAre("x"));
}

TEST(ParseRecord, WrongUseIsOneSentence) {
  EXPECT_THAT(refused({}), HasSubstr("no command"));
  EXPECT_THAT(refused({"--"}), HasSubstr("no command"));
  EXPECT_THAT(refused({"-q"}), HasSubstr("no command"));
  EXPECT_THAT(refused({""}), HasSubstr("empty"));
  EXPECT_THAT(refused({"--bogus", "ls"}), HasSubstr("--bogus"));
  EXPECT_EQ(refused({"-o"}), "-o needs a value: FILE");
  EXPECT_EQ(refused({"-k", "cals", "ls"}),
            "there is no kind 'cals' (did you mean 'calls'?): choose from calls, alloc, locks, points");
  EXPECT_EQ(refused({"--tread", "x", "ls"}), "there is no option --tread; did you mean --thread?");
  EXPECT_EQ(refused({"-p", "1", "ls"}), "-p PID and a command contradict each other: give one of them");
  EXPECT_THAT(refused({"-o", "-", "ls"}), HasSubstr("a recording cannot go to standard output"));
  EXPECT_EQ(refused({"--on-full", "wait", "ls"}), "there is no --on-full 'wait': choose from block, drop");
  EXPECT_EQ(refused({"--pool", "1", "ls"}), "--pool 1: give MiB from 4 to 4096, or a size such as 64M");
  EXPECT_EQ(refused({"--stack-depth", "0", "ls"}), "--stack-depth is a whole number from 1 to 256, not '0'");
  EXPECT_EQ(refused({"--stack-depth", "many", "ls"}), "--stack-depth is a whole number from 1 to 256, not 'many'");
  EXPECT_THAT(refused({"-e", std::string(500, 'x'), "ls"}), HasSubstr("469"));
  for (const Arguments& arguments : {Arguments{}, {"--bogus", "ls"}, {"-o"}})
    EXPECT_THAT(refused(arguments), Not(HasSubstr("\n")));
}

// As many patterns as fit into penna_config, with the empty one that ends the list.
TEST(ParseRecord, PatternsFillTheirRoomAndNoMore) {
  EXPECT_EQ(parsed({"-e", std::string(469, 'x'), "ls"}).point_patterns.size(), 1u);
  EXPECT_THAT(refused({"-e", std::string(470, 'x'), "ls"}), HasSubstr("469"));
  EXPECT_THAT(refused({"-e", std::string(400, 'x'), "-e", std::string(70, 'y'), "ls"}), HasSubstr("469"));
}

TEST(ParseRecord, HelpNamesTheCommand) {
  const auto result = parse_record({"--help", "--all"});
  ASSERT_TRUE(result);
  EXPECT_THAT(result->help, HasSubstr("[--] CMD"));
  EXPECT_THAT(result->help, HasSubstr("--on-full"));
}

}  // namespace
}  // namespace penna::record_options_test
