// SPDX-License-Identifier: MIT
// See verbs.h. The order is the order of `penna help`.
#include "cli/verbs.h"

#include "base/find_program.h"
#include "base/nearest_name.h"

namespace penna {
namespace {

constexpr Verb kVerbs[] = {
    {"record", "[OPTIONS] [--] CMD...", "run a command and record it", record_verb},
    {"report", "[REC] [TABLE]",
     "tables: calls, tree, flame, alloc, leaks, temp, peak, sizes, lifetimes, heap, locks, waits, holds, chains, "
     "order, points, threads, health",
     report_verb},
    {"replay", "[REC]", "what happened in each thread, in order, nested as the calls were", replay_verb},
    {"graph", "FUNC [REC]", "who calls a function, and what it calls", graph_verb},
    {"diff", "A B", "the calls, allocations or leaks of two recordings, side by side", diff_verb},
    {"check", "[REC]", "whether a recording keeps within limits, as --max-leak 0: for tests", check_verb},
    {"info", "[REC]", "what was recorded, when and where", info_verb},
    {"list", "BIN|PID|REC", "the points of a program, a process or a recording, and what can be recorded of it",
     list_verb},
    {"lint", "BIN...", "pitfalls in the static tracepoints of programs, and which tools they break", lint_verb},
    {"view", "[A] [REC]", "one page in the browser, in which the whole recording can be looked at", view_verb},
    {"sql", "[REC...] ['QUERY']", "questions in SQL: calls, allocations, waits and others are tables", sql_verb},
    {"export", "FORMAT [REC [OUT]]",
     "the events for other tools: csv, chrome, perfetto, folded, ctf, heaptrack, pprof and others", export_verb},
    {"push", "[REC...] --to URL", "recordings into the tables of a ClickHouse server, for many machines", push_verb},
    {"fleet", "init|expire URL...", "make the tables of a ClickHouse server that recordings are pushed to", fleet_verb},
    {"ctl", "PID on|off|stop ...", "switch points of a running recording, or end it", ctl_verb},
    {"doctor", "[PID|BIN]", "what works here, or of a process or program, and how to fix what does not", doctor_verb},
    {"import", "[rtrace] FILE", "make a recording from a stream of a kernel or firmware, or from a functracer trace",
     import_verb},
    {"pack", "[REC...]", "make recordings smaller, with all that is in them", pack_verb},
    {"trim", "-r FROM-TO [REC]", "a part of a recording, by time, as a smaller one", trim_verb},
    {"merge", "REC REC...", "recordings of one machine as one, on one clock", merge_verb},
    {"config", "[VERB]", "the defaults of options, and which file or variable each comes from", config_verb},
    {"completion", "SHELL", "a script by which bash, zsh or fish complete the command line of penna", completion_verb},
    {"help", "[VERB]", "this, or all options of a verb", help_verb},
};

}  // namespace

std::span<const Verb> verbs() { return kVerbs; }

const Verb* find_verb(const std::string& name) {
  for (const Verb& verb : kVerbs)
    if (name == verb.name) return &verb;
  return nullptr;
}

OptionTable option_table(const Verb& verb) {
  return option_table([&verb] { verb.run({}); });
}

namespace {

std::vector<std::string> verb_names() {
  std::vector<std::string> names;
  for (const Verb& verb : kVerbs) names.emplace_back(verb.name);
  return names;
}

}  // namespace

std::string no_such_verb_text(const std::string& word) { return there_is_no("verb", word, verb_names()); }

std::string why_no_verb(const std::string& word) {
  return find_verb(word) != nullptr ? std::string() : no_such_verb_text(word);
}

const Verb* similar_verb(const std::string& word) {
  // Too long to be a typing error in a verb, a path, or an existing program.
  if (word.size() > 12 || word.find('/') != std::string::npos || !find_program(word).empty()) return nullptr;
  return find_verb(nearest_of(word, verb_names()));
}

}  // namespace penna
