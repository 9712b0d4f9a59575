// SPDX-License-Identifier: MIT
// The command lines of the reading verbs, and the table of verbs.
#include "options/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/input.h"
#include "cli/report/report_table.h"
#include "cli/verbs.h"
#include "cli/verbs/cmd_check.h"
#include "cli/verbs/cmd_ctl.h"
#include "cli/verbs/cmd_diff.h"
#include "cli/verbs/cmd_export.h"
#include "cli/verbs/cmd_import.h"
#include "cli/verbs/cmd_info.h"
#include "cli/verbs/cmd_lint.h"
#include "cli/verbs/cmd_list.h"
#include "cli/verbs/cmd_replay.h"
#include "cli/verbs/cmd_report.h"
#include "options/alloc_options.h"
#include "report/units.h"

namespace penna::arguments_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

template <typename Options>
std::string refused(Result<Parsed<Options>> (*parse)(const Arguments&), const Arguments& arguments) {
  const auto result = parse(arguments);
  return result ? "accepted" : result.error().text;
}

template <typename Options>
Options parsed(Result<Parsed<Options>> (*parse)(const Arguments&), const Arguments& arguments) {
  const auto result = parse(arguments);
  if (!result) ADD_FAILURE() << result.error().text;
  return result ? result->options : Options{};
}

TEST(ParseReport, RecordingAndTableInEitherOrder) {
  for (const Arguments& arguments : {Arguments{"a.penna", "alloc"}, {"alloc", "a.penna"}, {"alloc", "-i", "a.penna"}}) {
    const ReportOptions options = parsed(parse_report, arguments);
    EXPECT_EQ(options.which, "alloc");
    EXPECT_EQ(options.input.recording, "a.penna");
  }
  EXPECT_EQ(parsed(parse_report, {"locks"}).input.recording, "");
  EXPECT_EQ(parsed(parse_report, {"./locks"}).input.recording, "./locks");  // a file of that name
  EXPECT_EQ(parsed(parse_report, {"locks", "locks"}).input.recording, "locks");
  EXPECT_EQ(parsed(parse_report, {}).which, "");
}

TEST(ParseReport, EveryTableHasAName) {
  EXPECT_THAT(report_names(),
              ElementsAre("calls", "tree", "flame", "alloc", "leaks", "temp", "peak", "sizes", "lifetimes", "heap",
                          "locks", "waits", "holds", "chains", "order", "points", "threads", "health"));
  for (const std::string& name : report_names()) EXPECT_EQ(parsed(parse_report, {name}).which, name);
}

TEST(ParseReport, TableOptions) {
  const ReportOptions options =
      parsed(parse_report, {"calls", "-n", "3", "--sort", "self:asc", "--format=csv", "--color=never"});
  EXPECT_EQ(options.table.top, 3u);
  EXPECT_EQ(options.table.sort, "self:asc");
  EXPECT_EQ(options.table.format, Format::kCsv);
  EXPECT_EQ(options.table.color, ColorMode::kNever);
  EXPECT_EQ(rows_to_show(parsed(parse_report, {"calls"}).table), 25u);
  EXPECT_EQ(rows_to_show(parsed(parse_report, {"calls", "--format", "json"}).table), 0u);
  EXPECT_EQ(rows_to_show(parsed(parse_report, {"calls", "-n", "0"}).table), 0u);
  EXPECT_EQ(rows_to_show(parsed(parse_report, {}).table), 5u);  // the summary
}

TEST(ParseReport, Views) {
  EXPECT_EQ(parsed(parse_report, {"alloc"}).frames, std::nullopt);
  EXPECT_EQ(parsed(parse_report, {"alloc", "--frames", "0"}).frames, 0u);
  EXPECT_EQ(parsed(parse_report, {"alloc", "--by", "function"}).by, ReportBy::kFunction);
  EXPECT_EQ(parsed(parse_report, {"--by=module", "leaks", "a.penna"}).by, ReportBy::kModule);
  EXPECT_EQ(parsed(parse_report, {"leaks", "--by", "stack"}).by, ReportBy::kStack);
  EXPECT_EQ(parsed(parse_report, {"calls", "--by", "thread"}).by, ReportBy::kThread);
  EXPECT_EQ(parsed(parse_report, {"peak", "--by", "call"}).by, ReportBy::kCall);
  EXPECT_EQ(parsed(parse_report, {"lifetimes", "--by", "freer"}).by, ReportBy::kFreer);
  EXPECT_EQ(refused(parse_report, {"--by", "function"}),
            "--by is for the tables calls, alloc, leaks, temp, peak, lifetimes, waits: name one of them");
  EXPECT_EQ(parsed(parse_report, {"waits", "--by", "holder"}).by, ReportBy::kHolder);
  EXPECT_EQ(refused(parse_report, {"alloc", "--by", "lock"}), "--by lock is for waits, not for alloc");
  EXPECT_EQ(refused(parse_report, {"waits", "--by", "kind"}),
            "waits can be shown --by stack, function, holder, lock, thread or process");
  EXPECT_EQ(refused(parse_report, {"leaks", "--by", "freer"}), "--by freer is for alloc and lifetimes, not for leaks");
  EXPECT_EQ(parsed(parse_report, {"alloc", "--by", "freer"}).by, ReportBy::kFreer);
  EXPECT_EQ(parsed(parse_report, {"leaks", "--family", "maps", "--by", "kind"}).by, ReportBy::kKind);
  EXPECT_EQ(parsed(parse_report, {"leaks", "--family", "pool:a b"}).allocations.family, "pool:a b");
  EXPECT_TRUE(parsed(parse_report, {"alloc", "--unmatched"}).unmatched);
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{"leaks", "--unmatched"}, {"alloc", "--unmatched", "--by", "freer"}})
    EXPECT_EQ(refused(parse_report, wrong), "--unmatched is a table of its own: penna report alloc --unmatched");
  EXPECT_EQ(refused(parse_report, {"calls", "--family", "maps"}).substr(0, 42),
            "--family, --size, --lifetime, --stack and ");
  EXPECT_EQ(refused(parse_report, {"calls", "--by", "stack"}), "calls can be shown --by function, module or thread");
  EXPECT_EQ(parsed(parse_report, {"flame", "--width", "80", "--weight=wait"}).width, 80u);
  EXPECT_EQ(parsed(parse_report, {"flame", "--weight=wait"}).weight, FoldedWeight::kWait);
  EXPECT_EQ(refused(parse_report, {"calls", "--width", "80"}),
            "--weight and --width are for flame: penna report flame");
  EXPECT_EQ(refused(parse_report, {"flame", "--json"}), "flame is a drawing: penna export folded writes its numbers");
}

TEST(ParseReport, OptionsOfAllocations) {
  const ReportOptions options =
      parsed(parse_report, {"temp", "--within", "3", "--size", "64..4k", "--lifetime=1ms..", "--stack", "pay"});
  EXPECT_EQ(options.within, 3u);
  EXPECT_EQ(options.allocations.size->high, 4096u);
  EXPECT_EQ(options.allocations.lifetime->low, 1'000'000u);
  EXPECT_EQ(options.allocations.stacks.at(0).text(), "pay");
  EXPECT_TRUE(parsed(parse_report, {"leaks", "--no-suppressions"}).suppressions.none);
  EXPECT_TRUE(parsed(parse_report, {"flame", "--weight", "live", "--size", "1"}).allocations.any());
  EXPECT_THAT(refused(parse_report, {"flame", "--size", "1"}),
              HasSubstr("--size, --lifetime, --stack and --pid are for"));
  EXPECT_THAT(refused(parse_report, {"calls", "--stack", "a"}),
              HasSubstr("--size, --lifetime, --stack and --pid are for"));
  EXPECT_EQ(refused(parse_report, {"peak", "--within", "3"}), "--within is for alloc and temp");
  EXPECT_EQ(refused(parse_report, {"alloc", "--no-suppressions"}),
            "--suppressions and --no-suppressions are for leaks");
  EXPECT_EQ(refused(parse_report, {"alloc", "--ascii"}), "--ascii is for flame, heap and locks");
  for (const char* wrong : {"x", "..", "5..4", "1k..x", "-1"})
    EXPECT_THAT(refused(parse_report, {"alloc", "--size", wrong}), HasSubstr("--size is a number of bytes")) << wrong;
  for (const char* wrong : {"5", "..", "1ms..1us", "1ms"})
    EXPECT_THAT(refused(parse_report, {"alloc", "--lifetime", wrong}), HasSubstr("--lifetime is a range")) << wrong;
}

TEST(ParseReport, FiltersOfCallsLeaveOutNothingElse) {
  EXPECT_EQ(refused(parse_report, {"leaks", "-F", "pay"}),
            "-F pay chooses calls, and this shows none: allocations are chosen by --stack, --size and --lifetime");
  EXPECT_THAT(refused(parse_report, {"flame", "--weight", "live", "--caller", "pay"}), HasSubstr("chosen by --stack"));
  EXPECT_THAT(refused(parse_report, {"waits", "--depth", "3"}), HasSubstr("locks are chosen by --lock"));
  EXPECT_EQ(parsed(parse_report, {"alloc", "--by", "call", "-F", "pay"}).which, "alloc");
  EXPECT_EQ(parsed(parse_report, {"leaks", "-r", "1s-2s"}).which, "leaks");
  EXPECT_THAT(refused(parse_report, {"leaks", "-T", "no_action"}), HasSubstr("-T is a function"));
  EXPECT_EQ(parsed(parse_report, {"calls", "-F", "pay"}).which, "calls");
}

TEST(ParseReport, OptionsOfLocks) {
  EXPECT_EQ(parsed(parse_report, {"locks", "--lock", "queue*"}).lock, "queue*");
  EXPECT_EQ(parsed(parse_report, {"waits", "--min-wait=1.5ms"}).min_wait->value, 1'500'000u);
  EXPECT_EQ(parsed(parse_report, {"holds", "--min-hold", "10us"}).min_hold->value, 10'000u);
  EXPECT_EQ(parsed(parse_report, {"flame", "--weight=wait-by-holder"}).weight, FoldedWeight::kWaitByHolder);
  EXPECT_EQ(refused(parse_report, {"calls", "--lock", "q"}), "--lock is for locks, waits and holds");
  EXPECT_EQ(refused(parse_report, {"holds", "--min-wait", "1ms"}), "--min-wait is for locks and waits");
  EXPECT_EQ(refused(parse_report, {"locks", "--min-hold", "1ms"}), "--min-hold is for holds");
  EXPECT_EQ(refused(parse_report, {"waits", "--min-wait", "5"}), "--min-wait is a duration, as 10us or 1.5ms, not '5'");
}

TEST(ParseReport, SymbolOptions) {
  const ReportOptions options =
      parsed(parse_report, {"calls", "--symfs", "/mnt", "--debug-dir", "/a", "--debug-dir", "/b", "--demangle", "no"});
  EXPECT_EQ(options.input.symfs, "/mnt");
  EXPECT_THAT(options.input.debug_dirs, ElementsAre("/a", "/b"));
  EXPECT_EQ(symbol_options(options.input).demangle, Demangle::kNo);
  EXPECT_EQ(symbol_options(options.input).search.debuginfod_urls, "");
  EXPECT_EQ(symbol_options(parsed(parse_report, {"--debuginfod=http://x"}).input).search.debuginfod_urls, "http://x");
  EXPECT_EQ(parsed(parse_report, {"calls", "--debuginfod"}).input.debuginfod, "default");
}

TEST(ParseCheck, LimitsOnLocks) {
  const CheckOptions options =
      parsed(parse_check, {"--max-wait-p99=1ms", "--max-wait", "2s", "--max-hold=3us", "--no-lock-in", "audio_*"});
  EXPECT_EQ(options.max_wait_p99->value, 1'000'000u);
  EXPECT_EQ(options.max_wait->text + options.max_hold->text, "2s3us");
  EXPECT_EQ(options.no_lock_in.at(0).text(), "audio_*");
  EXPECT_TRUE(options.of_locks());
  EXPECT_FALSE(options.of_allocations());
  EXPECT_EQ(refused(parse_check, {"--max-hold", "3"}), "--max-hold is a duration, as 10us or 1.5ms, not '3'");
}

TEST(ParseCheck, LimitsAreNeededAndUnderstood) {
  const CheckOptions options = parsed(parse_check, {"a.penna", "--max-leak=64k", "--max-leak-blocks", "3",
                                                    "--max-allocs", "a=b=2", "--max-peak", "1MB"});
  EXPECT_EQ(options.input.recording, "a.penna");
  EXPECT_EQ(options.max_leak->value, 65536u);
  EXPECT_EQ(options.max_leak->text, "64k");
  EXPECT_EQ(options.max_leak_blocks, 3u);
  EXPECT_EQ(options.max_allocs.at(0).text, "a=b=2");
  EXPECT_EQ(options.max_allocs.at(0).value.allowed, 2u);
  EXPECT_EQ(refused(parse_check, {"a.penna"}),
            "there is nothing to check: give a limit, as --max-leak 0 or --max-wait 1ms");
  EXPECT_EQ(refused(parse_check, {"--max-peak", "much"}),
            "--max-peak is a number of bytes, as 0, 64k or 1.5MB, not 'much'");
  for (const char* wrong : {"parse", "=0", "parse=", "parse=-1", "parse=1x", "parse=18446744073709551616"})
    EXPECT_THAT(refused(parse_check, {"--max-allocs", wrong}), HasSubstr("--max-allocs is a function and a number"));
  EXPECT_THAT(refused(parse_check, {"--max-allocs", "/(/=0"}), HasSubstr("'/(/' is not a regular expression"));
  EXPECT_THAT(refused(parse_check, {"--no-lock-in", "/(/"}), HasSubstr("'/(/' is not a regular expression"));
}

TEST(ParseDiff, WhatIsComparedAndWhatIsNoise) {
  EXPECT_EQ(parsed(parse_diff, {"a", "b"}).of, std::nullopt);
  EXPECT_EQ(parsed(parse_diff, {"--leaks", "a", "b"}).of, DiffOf::kLeaks);
  EXPECT_EQ(parsed(parse_diff, {"--alloc", "a", "b", "--min-delta", "4k"}).min_delta->text, "4k");
  const auto quiet = [](const char* text, DiffOf of) { return *quiet_limit(*parse_min_delta(text), of); };
  EXPECT_EQ(quiet("4k", DiffOf::kAlloc).absolute, 4096);
  EXPECT_EQ(quiet("4us", DiffOf::kCalls).absolute, 4000);
  EXPECT_EQ(quiet("5%", DiffOf::kLeaks).percent, 5);
  EXPECT_THAT(refused(parse_diff, {"--alloc", "a", "b", "--min-delta", "4us"}), HasSubstr("a number of bytes"));
  EXPECT_THAT(refused(parse_diff, {"--of", "calls", "a", "b", "--min-delta", "4k"}),
              HasSubstr("--min-delta is a time"));
}

TEST(ParseReport, WrongUse) {
  EXPECT_THAT(refused(parse_report, {"a.penna", "alloc", "b.penna"}), HasSubstr("b.penna"));
  EXPECT_EQ(refused(parse_report, {"--format", "xml"}), "there is no --format 'xml': choose from table, csv, json");
  EXPECT_THAT(refused(parse_report, {"--format", "csv"}), HasSubstr("name one of calls"));
  EXPECT_EQ(refused(parse_report, {"-n", "many"}), "-n is a whole number, not 'many'");
  EXPECT_EQ(refused(parse_report, {"-n", "-3"}), "-n is a whole number, not '-3'");
  EXPECT_EQ(refused(parse_report, {"--top=0x10"}), "--top is a whole number, not '0x10'");
  EXPECT_EQ(refused(parse_report, {"-n"}), "-n needs a value: N");
  EXPECT_EQ(refused(parse_report, {"-n", "1", "--top", "2"}), "-n is given more than once: give it once");
  EXPECT_EQ(refused(parse_report, {"--what"}), "there is no option --what");
}

TEST(WrongWords, TheNearestOptionIsOffered) {
  EXPECT_EQ(refused(parse_report, {"--tread", "main"}), "there is no option --tread; did you mean --thread?");
  EXPECT_EQ(refused(parse_report, {"-wide"}), "there is no option -wide; did you mean --wide?");
  EXPECT_EQ(refused(parse_report, {"--no-supp=x"}), "there is no option --no-supp; did you mean --no-suppressions?");
  EXPECT_EQ(refused(parse_report, {"--no"}), "there is no option --no");
  EXPECT_EQ(refused(parse_report, {"-Q"}), "there is no option -Q");
  EXPECT_EQ(refused(parse_check, {"--max-leek", "0"}), "there is no option --max-leek; did you mean --max-leak?");
  EXPECT_EQ(refused(parse_diff, {"a", "b", "--leak"}), "there is no option --leak; did you mean --leaks?");
}

TEST(WrongWords, ValuesOfOptions) {
  EXPECT_EQ(refused(parse_report, {"alloc", "--by", "thred"}),
            "there is no --by 'thred' (did you mean 'thread'?): choose from function, stack, file, module, process, "
            "thread, call, kind, freer, holder, lock");
  EXPECT_EQ(refused(parse_report, {"--by"}),
            "--by needs a value: function, stack, file, module, process, thread, call, kind, freer, holder, lock");
  EXPECT_EQ(refused(parse_report, {"--color=Never"}),
            "there is no --color 'Never' (did you mean 'never'?): choose "
            "from auto, always, never");
  EXPECT_EQ(refused(parse_report, {"--json=yes"}), "--json takes no value: leave out what is behind '='");
  EXPECT_EQ(refused(parse_report, {"flame", "--width", "5"}), "--width is a whole number from 20 to 10000, not '5'");
  EXPECT_THAT(refused(parse_report, {"-T", "x"}), StartsWith("-T is a function and what happens there"));
}

TEST(WrongWords, TheWordThatIsNeitherInTheListNorAFileIsBlamed) {
  EXPECT_THAT(refused(parse_report, {"cals", "a.penna"}),
              StartsWith("there is no table 'cals' (did you mean 'calls'?)"));
  EXPECT_THAT(refused(parse_report, {"a.penna", "cals"}),
              StartsWith("there is no table 'cals' (did you mean 'calls'?)"));
  EXPECT_EQ(refused(parse_report, {"a.penna", "calls", "b.penna"}),
            "unexpected argument 'b.penna': give one recording and one table");
  EXPECT_THAT(refused(parse_export, {"cvs"}),
              StartsWith("there is no format 'cvs' (did you mean 'csv'?): choose from"));
  EXPECT_THAT(refused(parse_export, {"a.penna", "chrom"}),
              StartsWith("there is no format 'chrom' (did you mean 'chrome'?)"));
  EXPECT_THAT(refused(parse_export, {"a.penna"}), StartsWith("a format is missing: name one of csv, "));
  EXPECT_EQ(refused(parse_info, {"a", "b", "c"}), "unexpected argument 'b': write penna info [REC]");
  EXPECT_EQ(refused(parse_list, {}), "BIN|PID|REC is missing: write penna list BIN|PID|REC");
  EXPECT_EQ(refused(parse_ctl, {"12", "offf"}),
            "there is no command 'offf' (did you mean 'off'?): choose from on, off, snapshot, stop");
  EXPECT_EQ(refused(parse_ctl, {"twelve", "on"}), "'twelve' is no process number");
  EXPECT_THAT(refused(parse_ctl, {"12", "on"}), StartsWith("write penna ctl 12 on PATTERN"));
  EXPECT_THAT(refused(parse_import, {"rtrac", "x"}), StartsWith("there is no format 'rtrac' (did you mean 'rtrace'?)"));
  EXPECT_THAT(no_such_verb_text("recrod"),
              StartsWith("there is no verb 'recrod' (did you mean 'record'?): choose from record, "));
}

TEST(WrongWords, ContradictionsAreRefusedAlike) {
  EXPECT_EQ(refused(parse_replay, {"--tree", "--merge"}), "--tree and --merge contradict each other: give one of them");
  EXPECT_EQ(refused(parse_report, {"--json", "--format", "csv", "calls"}),
            "--format and --json contradict each other: give one of them");
  EXPECT_EQ(parsed(parse_report, {"--json", "--format", "json", "calls"}).table.format, Format::kJson);
  EXPECT_EQ(refused(parse_diff, {"--alloc", "--leaks", "a", "b"}),
            "--alloc and --leaks contradict each other: give one of them");
  EXPECT_EQ(refused(parse_check, {"--suppressions", "x", "--no-suppressions", "--max-leak", "0"}),
            "--suppressions and --no-suppressions contradict each other: give one of them");
  EXPECT_EQ(refused(parse_report, {"chains", "--thread", "a", "--span", "b"}),
            "--thread and --span contradict each other: give one of them");
}

TEST(WrongWords, ARecordingIsReadFromAPipeAndNotWrittenToOne) {
  EXPECT_EQ(parsed(parse_report, {"-", "calls"}).input.recording, "-");
  EXPECT_THAT(refused(parse_import, {"x", "-o", "-"}), StartsWith("a recording cannot go to standard output"));
  EXPECT_THAT(refused(parse_import, {"-"}), StartsWith("standard input has no name"));
}

TEST(ParseReplay, Options) {
  const ReplayOptions options =
      parsed(parse_replay, {"a.penna", "--thread", "12", "--pid", "7", "-n", "100", "--merge", "--stacks"});
  EXPECT_EQ(options.input.recording, "a.penna");
  EXPECT_THAT(options.input.threads.names, ElementsAre("12"));
  EXPECT_THAT(parsed(parse_replay, {"-t", "12", "-t", "work*"}).input.threads.names, ElementsAre("12", "work*"));
  EXPECT_THAT(parsed(parse_replay, {"--tid", "12", "--tid", "13"}).input.threads.tids, ElementsAre("12", "13"));
  EXPECT_EQ(options.pid->pid, 7u);
  EXPECT_EQ(options.lines, 100u);
  EXPECT_TRUE(options.merge);
  EXPECT_TRUE(options.stacks);
  EXPECT_THAT(refused(parse_replay, {"a", "b"}), HasSubstr("b"));
}

TEST(ParseReplay, Fields) {
  EXPECT_FALSE(parsed(parse_replay, {"a"}).fields);
  EXPECT_THAT(*parsed(parse_replay, {"-f", "tid,kind"}).fields, ElementsAre(ReplayField::kTid, ReplayField::kKind));
  const ReplayOptions json = parsed(parse_replay, {"--json", "--stacks"});
  EXPECT_EQ(json.table.format, Format::kJson);
  EXPECT_EQ(json.fields->back(), ReplayField::kStack);
  EXPECT_THAT(refused(parse_replay, {"--fields", "tid,knid"}), HasSubstr("(did you mean 'kind'?)"));
  EXPECT_THAT(refused(parse_replay, {"--tree", "--fields", "tid"}), HasSubstr("--tree"));
  EXPECT_THAT(refused(parse_replay, {"--tree", "--format", "csv"}), HasSubstr("--tree"));
}

TEST(ParseExport, FormatAndRecordingInEitherOrder) {
  for (const Arguments& arguments : {Arguments{"csv", "a.penna", "-o", "x"}, {"-o", "x", "a.penna", "csv"}}) {
    const ExportOptions options = parsed(parse_export, arguments);
    EXPECT_EQ(options.format, "csv");
    EXPECT_EQ(options.input.recording, "a.penna");
    EXPECT_EQ(options.output, "x");
  }
  EXPECT_THAT(refused(parse_export, {}), HasSubstr("csv, chrome"));
  EXPECT_THAT(refused(parse_export, {"a.penna"}), HasSubstr("csv, chrome"));
  const ExportOptions three = parsed(parse_export, {"ctf", "a.penna", "trace"});
  EXPECT_EQ(three.input.recording, "a.penna");
  EXPECT_EQ(three.output, "trace");
  EXPECT_THAT(refused(parse_export, {"csv", "a", "b", "c"}), HasSubstr("'c'"));
}

TEST(ParseInfoAndList, Words) {
  EXPECT_EQ(parsed(parse_info, {"a.penna"}).input.recording, "a.penna");
  EXPECT_EQ(parsed(parse_info, {"--format", "json"}).table.format, Format::kJson);
  EXPECT_EQ(parsed(parse_list, {"--json", "x"}).table.format, Format::kJson);
  EXPECT_EQ(parsed(parse_lint, {"a", "b"}).targets, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(refused(parse_lint, {}), "a program is missing: name one or more");
  EXPECT_EQ(parsed(parse_list, {"/bin/ls"}).target, "/bin/ls");
  EXPECT_EQ(refused(parse_list, {}), "BIN|PID|REC is missing: write penna list BIN|PID|REC");
}

TEST(Parse, HelpShowsNamesValuesAndWords) {
  ::setenv("COLUMNS", "80", 1);
  const std::string help = parse_info({"--help"})->help;
  EXPECT_EQ(help,
            "Usage: penna info [OPTIONS] [REC]\n"
            "Shows what a recording contains: command, machine, time, processes, events.\n\n"
            "  REC                         the recording; default the newest *.penna here\n\n"
            "Examples:\n"
            "  penna info                   of the newest recording\n"
            "  penna info app.penna         of this one\n"
            "  penna info app.penna --json  for programs: identifiers and numbers\n\n"
            "Input and names:\n"
            "  -i,--input REC              the recording; default the newest *.penna here\n\n"
            "Output:\n"
            "  --wide                      all columns and whole names; lines may wrap\n"
            "  --format table|csv|json     text for people, or raw numbers\n"
            "  --json                      the same as --format json\n"
            "  --color auto|always|never   when to use colours; auto: on a terminal\n"
            "  --no-pager                  no $PAGER (default less -FRX) on a terminal\n\n"
            "Help:\n"
            "  -h,--help                   show this text; with --all, all options\n");
}

TEST(Parse, NamesAreThoseThatEveryVersionOfCli11Takes) {
  OptionParser parser("About.", "penna verb");
  std::string value;
  bool set = false;
  EXPECT_THROW(parser.word("A B", value, ""), std::invalid_argument);
  EXPECT_THROW(parser.text("-a,--a b", value, "X", ""), std::invalid_argument);
  EXPECT_THROW(parser.flag("--a=b", set, ""), std::invalid_argument);
  EXPECT_THROW(parser.flag("--a:b", set, ""), std::invalid_argument);
  for (const Verb& verb : verbs()) EXPECT_EQ(verb.run({"--help"}), 0) << verb.name;  // each declares all that it has
}

TEST(Parse, HelpShowsWordsAsTheyAreTyped) {
  EXPECT_THAT(parse_diff({"--help"})->help, HasSubstr("penna diff [OPTIONS] A B\n"));
  EXPECT_THAT(parse_diff({"--help"})->help, HasSubstr("\n  A B                         the recordings"));
  EXPECT_THAT(parse_export({"--help"})->help, HasSubstr("penna export [OPTIONS] FORMAT [REC [OUT]]\n"));
  EXPECT_THAT(parse_report({"--help"})->help, HasSubstr("penna report [OPTIONS] [REC] [TABLE]\n"));
}

TEST(Parse, HelpOfEveryVerb) {
  EXPECT_THAT(parse_report({"--help"})->help, HasSubstr("penna report"));
  EXPECT_THAT(parse_replay({"-h"})->help, HasSubstr("--merge"));
  EXPECT_THAT(parse_export({"--help"})->help, HasSubstr("chrome"));
  EXPECT_THAT(parse_info({"--help"})->help, HasSubstr("penna info"));
  EXPECT_THAT(parse_list({"--help"})->help, HasSubstr("BIN|PID|REC"));
  EXPECT_THAT(parse_lint({"--help"})->help, HasSubstr("BIN..."));
}

TEST(Verbs, AreFound) {
  for (const char* name : {"record", "report", "replay", "info", "list", "lint", "export", "doctor", "help"}) {
    ASSERT_NE(find_verb(name), nullptr) << name;
    EXPECT_STREQ(find_verb(name)->name, name);
  }
  EXPECT_EQ(find_verb("ls"), nullptr);
  EXPECT_EQ(find_verb(""), nullptr);
}

TEST(Verbs, MisspeltOnesAreGuessed) {
  ASSERT_NE(similar_verb("reprot"), nullptr);
  EXPECT_STREQ(similar_verb("reprot")->name, "report");
  EXPECT_STREQ(similar_verb("replya")->name, "replay");
  EXPECT_STREQ(similar_verb("exort")->name, "export");
  EXPECT_EQ(similar_verb("ls"), nullptr);        // a program
  EXPECT_EQ(similar_verb("./reprot"), nullptr);  // a path
  EXPECT_EQ(similar_verb("frobnicate"), nullptr);
}

}  // namespace
}  // namespace penna::arguments_test
