// SPDX-License-Identifier: MIT
// The verbs of penna. Each has its own file, cmd_VERB.cc, which parses its arguments and performs its steps.
#pragma once

#include <span>
#include <string>

#include "options/arguments.h"

namespace penna {

struct Verb {
  const char* name;
  const char* usage;    // follows the name
  const char* summary;  // one line
  int (*run)(const Arguments&);
};

std::span<const Verb> verbs();
const Verb* find_verb(const std::string& name);  // null: no such verb
OptionTable option_table(const Verb& verb);
// "there is no verb 'recrod' (did you mean 'record'?): choose from ...".
std::string no_such_verb_text(const std::string& word);
// The same of a word that is to be a verb; empty: it is one.
std::string why_no_verb(const std::string& word);
// The verb probably meant by a misspelt word; null: none is near.
const Verb* similar_verb(const std::string& word);

int record_verb(const Arguments&);
int command_verb(const Arguments&);  // penna CMD...: record, then a short report
int report_verb(const Arguments&);
int replay_verb(const Arguments&);
int graph_verb(const Arguments&);
int diff_verb(const Arguments&);
int check_verb(const Arguments&);
int info_verb(const Arguments&);
int list_verb(const Arguments&);
int lint_verb(const Arguments&);
int view_verb(const Arguments&);
int sql_verb(const Arguments&);
int export_verb(const Arguments&);
int ctl_verb(const Arguments&);
int push_verb(const Arguments&);
int fleet_verb(const Arguments&);
int import_verb(const Arguments&);
int pack_verb(const Arguments&);
int trim_verb(const Arguments&);
int merge_verb(const Arguments&);
int doctor_verb(const Arguments&);
int completion_verb(const Arguments&);
int config_verb(const Arguments&);
int help_verb(const Arguments&);

}  // namespace penna
