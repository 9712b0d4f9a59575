// SPDX-License-Identifier: MIT
// See verb_help.h. Each example is run by a test (tests/e2e/help.sh).
#include "options/verb_help.h"

#include <algorithm>
#include <iterator>

namespace penna {
namespace {

constexpr const char* kRecordCommon[] = {
    "-o", "-p", "-k", "--all-functions", "-F", "-N", "-e", "--duration", "--max-overhead", "--live", "-f", "-q"};
constexpr Example kRecordExamples[] = {
    {"penna record ./app", "everything it does: calls, allocations, locks, points"},
    {"penna record --all-functions ./app", "calls of all functions, however it was built"},
    {"penna record -o pay.penna -k calls -F 'shop::*' ./app", "only calls of some functions"},
    {"penna record -p PID --duration 1s", "a running process, for a second; it then runs on unchanged"},
    {"penna record --ring 60s --on 'wait > 100ms || crash' ./app", "the last minute, each time that happens"}};

constexpr const char* kReportCommon[] = {"-n",      "-s",       "--by",   "-F",       "--thread", "--pid",
                                         "--range", "--frames", "--lock", "--format", "-i"};
constexpr Example kReportExamples[] = {
    {"penna report", "the top of each table of the newest recording"},
    {"penna report leaks --by module", "which library holds memory that is never freed"},
    {"penna report app.penna calls -s self -n 10", "the ten functions that take most time themselves"}};

constexpr const char* kReplayCommon[] = {"-F",     "--thread", "-r",       "-n",      "--merge",
                                         "--tree", "--stacks", "--fields", "--format"};
constexpr Example kReplayExamples[] = {
    {"penna replay -n 50", "the first lines of each thread of the newest recording"},
    {"penna replay app.penna --merge -r 0s-10ms", "all threads by time, in the first ten milliseconds"},
    {"penna replay --tree", "only calls, as a tree; equal neighbours are counted"}};

constexpr const char* kGraphCommon[] = {"-n", "-s", "-r", "--thread", "--format", "-i"};
constexpr Example kGraphExamples[] = {{"penna graph pay", "callers and callees, with times, in the newest recording"},
                                      {"penna graph shop::pay app.penna", "a name in full"},
                                      {"penna graph main --format csv", "for a spreadsheet"}};

constexpr const char* kDiffCommon[] = {"--of", "--alloc", "--leaks",  "--min-delta", "-n",
                                       "-s",   "-F",      "--frames", "--format"};
constexpr Example kDiffExamples[] = {
    {"penna diff before.penna after.penna", "which functions became slower, or were called more often"},
    {"penna diff --leaks before.penna after.penna", "what leaks now and did not"},
    {"penna diff --min-delta 5% before.penna after.penna", "less noise"}};

constexpr const char* kCheckCommon[] = {"--max-leak",   "--max-peak",    "--max-allocs",   "--max-wait", "--max-hold",
                                        "--no-lock-in", "--no-deadlock", "--suppressions", "--format",   "-i"};
constexpr Example kCheckExamples[] = {
    {"penna check --max-leak 1MB --max-peak 100MB", "what it holds on to, and at the most"},
    {"penna check --max-wait 1s --no-deadlock", "the longest allowed wait for a lock"},
    {"penna check app.penna --max-allocs 'pay=1000'", "how often a function may allocate"}};

constexpr Example kInfoExamples[] = {{"penna info", "of the newest recording"},
                                     {"penna info app.penna", "of this one"},
                                     {"penna info app.penna --json", "for programs: identifiers and numbers"}};

constexpr Example kListExamples[] = {{"penna list ./app", "points and functions of a program"},
                                     {"penna list PID", "the same of a process"},
                                     {"penna list app.penna --json", "points that are in a recording"}};

constexpr Example kLintExamples[] = {{"penna lint ./app", "a program"},
                                     {"penna lint ./app ./libshop.so", "with a library of its own"},
                                     {"penna lint --json ./app", "for programs"}};

constexpr const char* kExportCommon[] = {"-o", "--weight", "-F", "--thread", "--pid", "--range", "--threads", "-i"};
constexpr Example kExportExamples[] = {
    {"penna export perfetto -o app.pftrace", "a time line for ui.perfetto.dev"},
    {"penna export folded --weight alloc-bytes -o app.folded", "stacks for a flame graph of allocations"},
    {"penna export csv app.penna -", "every event, on standard output"}};

constexpr const char* kViewCommon[] = {"--no-open", "--port", "-r", "-F", "-i"};
constexpr const char* kSqlCommon[] = {"--format", "-o", "-f", "-n", "--install", "--at", "-i"};
constexpr Example kSqlExamples[] = {
    {"penna sql app.penna 'select function, count(*) from call group by 1'", "how often each function was called"},
    {"penna sql before.penna after.penna --format csv -f question.sql", "a query in a file, of two recordings"},
    {"penna sql --install", "get DuckDB, once"},
    {"penna sql --at http://ch1:8123 'select host, count(*) from call group by host'", "of many machines"}};

constexpr Example kViewExamples[] = {{"penna view", "the newest recording, in the browser"},
                                     {"penna view app.penna -r 1s-2s", "a second of it"},
                                     {"penna view before.penna app.penna", "with what changed since another one"},
                                     {"penna view app.penna --no-open", "print the address only"}};

constexpr const char* kPushCommon[] = {"--to", "--label", "--password-file", "--give-up"};
constexpr Example kPushExamples[] = {
    {"penna push --to http://ch1:8123 --label service=shop app.penna", "a recording, for all who ask that server"},
    {"penna push --to http://ch1:8123 --user ada --password-file ~/.penna-password", "the newest, as another user"},
    {"penna push", "what could not be sent before"}};
constexpr Example kFleetExamples[] = {
    {"penna fleet init http://ch1:8123 --keep 30", "the tables, for recordings of 30 days"},
    {"penna fleet init http://ch1:8123 http://ch2:8123 --cluster penna", "on the shards of a cluster"},
    {"penna fleet expire http://ch1:8123", "drop what is older, on a server before 19.6"}};

constexpr Example kCtlExamples[] = {{"penna ctl PID off 'shop:*'", "record no points of shop from now on"},
                                    {"penna ctl PID on shop:order", "record this one again"},
                                    {"penna ctl PID off -k alloc", "record no allocations from now on, but frees"},
                                    {"penna ctl PID stop", "end the recording; the program goes on"}};

constexpr Example kDoctorExamples[] = {{"penna doctor", "this system"},
                                       {"penna doctor PID", "whether a process can be attached to"},
                                       {"penna doctor ./app", "what of a program can be recorded"}};

constexpr Example kImportExamples[] = {
    {"penna import boot.stream", "from a kernel module or firmware, by penna/stream.h"},
    {"penna import rtrace old.rtrace", "from a trace of functracer"},
    {"penna import -f -o other.penna rtrace old.rtrace", "to another file, which may exist"}};

constexpr Example kPackExamples[] = {{"penna pack", "the newest one, in its place"},
                                     {"penna pack app.penna before.penna", "each of them"},
                                     {"penna pack -o small.penna app.penna", "as another file"}};

constexpr Example kTrimExamples[] = {
    {"penna trim -r 1s-2s app.penna", "a second, as app.trimmed.penna"},
    {"penna trim -r 10ms- -o end.penna", "the newest one, without its beginning"},
    {"penna trim --range=-50ms -f -o begin.penna app.penna", "its beginning, over a file that exists"}};

constexpr Example kMergeExamples[] = {
    {"penna merge before.penna after.penna", "both, one behind the other, as merged.penna"},
    {"penna merge -o both.penna app.penna before.penna", "under another name"},
    {"penna merge -f -o both.penna app.penna before.penna", "over a file that exists"}};

constexpr Example kConfigExamples[] = {{"penna config", "all defaults, and where each comes from"},
                                       {"penna config report", "those of a verb"},
                                       {"PENNA_OPTIONS=--frames=3 penna config report", "what a variable adds"}};

constexpr Example kCompletionExamples[] = {{"source <(penna completion bash)", "for this shell; put it into ~/.bashrc"},
                                           {"penna completion zsh >_penna", "in a directory of $fpath"},
                                           {"penna completion fish >penna.fish", "in ~/.config/fish/completions"}};

constexpr Example kHelpExamples[] = {{"penna help", "the verbs"},
                                     {"penna help report", "what most people need of a verb"},
                                     {"penna help record --all", "all options of a verb"}};

struct HelpOfVerb {
  std::string_view verb;
  VerbHelp help;
};
constexpr HelpOfVerb kHelp[] = {
    {"record", {kRecordCommon, kRecordExamples}},
    {"report", {kReportCommon, kReportExamples}},
    {"replay", {kReplayCommon, kReplayExamples}},
    {"graph", {kGraphCommon, kGraphExamples}},
    {"diff", {kDiffCommon, kDiffExamples}},
    {"check", {kCheckCommon, kCheckExamples}},
    {"info", {{}, kInfoExamples}},
    {"list", {{}, kListExamples}},
    {"lint", {{}, kLintExamples}},
    {"view", {kViewCommon, kViewExamples}},
    {"sql", {kSqlCommon, kSqlExamples}},
    {"export", {kExportCommon, kExportExamples}},
    {"push", {kPushCommon, kPushExamples}},
    {"fleet", {{}, kFleetExamples}},
    {"ctl", {{}, kCtlExamples}},
    {"doctor", {{}, kDoctorExamples}},
    {"import", {{}, kImportExamples}},
    {"pack", {{}, kPackExamples}},
    {"trim", {{}, kTrimExamples}},
    {"merge", {{}, kMergeExamples}},
    {"config", {{}, kConfigExamples}},
    {"completion", {{}, kCompletionExamples}},
    {"help", {{}, kHelpExamples}},
};

}  // namespace

VerbHelp help_of(std::string_view verb) {
  const auto found =
      std::find_if(std::begin(kHelp), std::end(kHelp), [verb](const HelpOfVerb& one) { return one.verb == verb; });
  return found == std::end(kHelp) ? VerbHelp{} : found->help;
}

}  // namespace penna
