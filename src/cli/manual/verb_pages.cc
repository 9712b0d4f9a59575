// SPDX-License-Identifier: MIT
// See verb_pages.h.
#include "cli/manual/verb_pages.h"

#include <fmt/format.h>

#include <span>
#include <vector>

#include "cli/manual/mdoc.h"
#include "options/verb_help.h"

namespace penna {
namespace {

// "Fl o , Fl \-output Ar FILE"
std::string tag_of(const OptionRow& row) {
  std::string tag;
  for (const std::string& name : row.names)
    tag += fmt::format("{}Fl {}{}", tag.empty() ? "" : " , ", name[1] == '-' ? "\\-" : "",
                       name.substr(name[1] == '-' ? 2 : 1));
  if (!row.value.empty()) tag += fmt::format(" {} {}", row.alone ? "Op Ar" : "Ar", mdoc_word(row.value));
  return tag;
}

// In sections, as shown by --help --all.
void add_options(MdocPage& page, const OptionTable& table) {
  page.heading("OPTIONS");
  std::vector<const OptionRow*> rows;
  for (const OptionRow& row : table.options) rows.push_back(&row);
  for (const OptionSection& section : in_sections(rows)) {
    if (!section.title.empty()) page.subheading(section.title);
    page.begin(MdocPage::List::kTagged);
    for (const OptionRow* row : section.rows) page.item(tag_of(*row), row->help);
    page.end();
  }
}

void add_about(MdocPage& page, const OptionTable& table) {
  page.paragraph(table.about);
  if (table.list.empty()) return;
  page.begin(MdocPage::List::kTagged);
  for (const AboutRow& row : table.list) page.item("Ic " + mdoc_word(row.word), row.is);
  page.end();
}

void add_examples(MdocPage& page, std::span<const Example> examples) {
  if (examples.empty()) return;
  page.heading("EXAMPLES");
  for (const Example& one : examples) {
    page.paragraph(std::string(one.does) + ":");
    page.literal(std::string(one.command) + "\n");
  }
}

void add_exit_status(MdocPage& page, bool records) {
  page.heading("EXIT STATUS");
  if (records)
    page.paragraph(
        "That of the command; if a signal killed it, penna ends by the same one. Failures of penna itself are 125, or "
        "126 when the command cannot be run, and 127 when it is not found.");
  else
    page.paragraph("0, or 125 when penna could not do what was asked for.");
}

}  // namespace

std::string verb_page(const Verb& verb) {
  const OptionTable table = option_table(verb);
  const std::string name = verb.name;
  MdocPage page("penna-" + name, 1, verb.summary);
  page.heading("SYNOPSIS");
  page.macro(fmt::format(".Nm {}\n.Ar {}", mdoc_word(table.command), mdoc_word(verb.usage)));
  page.heading("DESCRIPTION");
  add_about(page, table);
  for (const WordRow& words : table.words) page.paragraph(fmt::format("`{}`: {}", words.typed, words.help));
  add_options(page, table);
  if (name == "check" || name == "doctor") {
    page.heading("EXIT STATUS");
    page.paragraph(name == "check" ? "0: within all limits. 1: one is exceeded. 2: the recording cannot tell. 125: "
                                     "penna could not do what was asked for."
                                   : "0: all that is needed works. 2: something does not. 125: penna could not do "
                                     "what was asked for.");
  } else {
    add_exit_status(page, table.runs_command);
  }
  add_examples(page, help_of(verb.name).examples);
  page.heading("SEE ALSO");
  page.macro(".Xr penna 1");
  return page.text();
}

std::string penna_page() {
  MdocPage page("penna", 1, "record calls, allocations, locks and points of a program");
  page.heading("SYNOPSIS");
  page.macro(".Nm\n.Ar VERB\n.Op Ar options\n.Nm\n.Ar CMD ...");
  page.heading("DESCRIPTION");
  page.paragraph(
      "Records what a program does: the calls it makes, the memory it allocates, the locks it waits for, and the "
      "points "
      "its authors left in it, each with its stack, on one clock. Without a verb, penna records the command, then "
      "shows a short report.");
  page.paragraph(
      "REC is a recording. Verbs that read one take the newest `*.penna` of the current directory where none is "
      "named.");
  page.heading("VERBS");
  page.begin(MdocPage::List::kTagged);
  for (const Verb& verb : verbs())
    page.item(fmt::format("Xr penna-{} 1 Ar {}", verb.name, mdoc_word(verb.usage)), verb.summary);
  page.end();
  page.heading("OPTIONS");
  page.begin(MdocPage::List::kTagged);
  page.item("Fl h , Fl \\-help", "the verbs");
  page.item("Fl V , Fl \\-version", "the version; with `-v` also how it was built");
  page.end();
  add_exit_status(page, true);
  page.heading("SEE ALSO");
  page.macro(".Xr penna-point 3 ,\n.Xr penna-format 5");
  return page.text();
}

}  // namespace penna
