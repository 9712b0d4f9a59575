// SPDX-License-Identifier: MIT
// See mdoc.h.
#include "cli/manual/mdoc.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cctype>
#include <cstdlib>
#include <ctime>

#include "penna/version.h"

namespace penna {
namespace {

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) switch (c) {
      case '\\': result += "\\e"; break;
      case '-': result += "\\-"; break;
      case '`': result += "\\(ga"; break;
      case '\'': result += "\\(aq"; break;
      case '^': result += "\\(ha"; break;
      case '~': result += "\\(ti"; break;
      case '"': result += "\\(dq"; break;
      default: result += c;
    }
  return result;
}

// The end of a span that begins with `mark` at `at`, or npos.
size_t closing(const std::string& text, const std::string& mark, size_t at) {
  return text.find(mark, at + mark.size());
}

// For "[text](target)" at `at`: its end, and its text.
size_t end_of_link(const std::string& text, size_t at, std::string* shown) {
  const size_t middle = text.find("](", at);
  const size_t end = middle == std::string::npos ? middle : text.find(')', middle);
  if (end == std::string::npos || text.find('\n', at) < middle) return std::string::npos;
  *shown = text.substr(at + 1, middle - at - 1);
  const std::string target = text.substr(middle + 2, end - middle - 2);
  if (target.find("://") != std::string::npos) *shown += " <" + target + ">";
  return end + 1;
}

// The end of "*word*" at `at`, or npos; patterns contain stars too, but not before a whole word.
size_t end_of_emphasis(const std::string& text, size_t at) {
  const auto is_word = [&text](size_t i) {
    return i < text.size() && std::isalnum(static_cast<unsigned char>(text[i]));
  };
  if (text[at] != '*' || !is_word(at + 1) || (at > 0 && text[at - 1] != ' ' && text[at - 1] != '('))
    return std::string::npos;
  const size_t end = text.find('*', at + 1);
  return end == std::string::npos || !is_word(end - 1) || is_word(end + 1) ? std::string::npos : end;
}

// Markdown's inline marks as fonts.
std::string inline_text(const std::string& text) {
  std::string result, shown;
  for (size_t at = 0; at < text.size();) {
    const bool strong = text.compare(at, 2, "**") == 0;
    if (text[at] == '`' || strong) {
      const std::string mark = strong ? "**" : "`";
      if (const size_t end = closing(text, mark, at); end != std::string::npos) {
        const std::string inside = text.substr(at + mark.size(), end - at - mark.size());
        result += "\\fB" + (strong ? inline_text(inside) : escaped(inside)) + "\\fR";
        at = end + mark.size();
        continue;
      }
    }
    if (const size_t end = end_of_emphasis(text, at); end != std::string::npos) {
      result += "\\fI" + escaped(text.substr(at + 1, end - at - 1)) + "\\fR";
      at = end + 1;
      continue;
    }
    if (const size_t end = text[at] == '[' ? end_of_link(text, at, &shown) : std::string::npos;
        end != std::string::npos) {
      result += inline_text(shown);
      at = end;
      continue;
    }
    result += escaped(text.substr(at++, 1));
  }
  return result;
}

// Running text: each sentence begins a line, as mdoc requires, and no line is a macro.
std::string running(const std::string& text) {
  std::string lines = "\\&";
  for (size_t i = 0; i < text.size(); ++i) {
    const bool ends = i > 1 && (text[i - 1] == '.' || (text[i - 2] == '.' && text[i - 1] == ')'));
    lines += text[i] == '\n' || (text[i] == ' ' && ends) ? "\n\\&" : std::string(1, text[i]);
  }
  return lines;
}

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

// The day of the build; SOURCE_DATE_EPOCH (reproducible-builds.org) overrides it.
std::string day() {
  const char* const epoch = std::getenv("SOURCE_DATE_EPOCH");
  const std::time_t now = epoch != nullptr ? std::strtoll(epoch, nullptr, 10) : std::time(nullptr);
  static constexpr const char* kMonths[] = {"January", "February", "March",     "April",   "May",      "June",
                                            "July",    "August",   "September", "October", "November", "December"};
  const std::tm date = fmt::gmtime(now);
  return fmt::format("{} {}, {}", kMonths[date.tm_mon], date.tm_mday, date.tm_year + 1900);
}

}  // namespace

std::string mdoc_word(const std::string& text) { return "\"\\&" + inline_text(text) + "\""; }

MdocPage::MdocPage(const std::string& name, int section, const std::string& summary) {
  add(fmt::format(".Dd {}\n.Dt {} {}\n.Os \"penna {}\"", day(), upper(name), section, PENNA_VERSION));
  add(fmt::format(".Sh NAME\n.Nm {}\n.Nd {}", name, inline_text(summary)));
}

void MdocPage::heading(const std::string& text) {
  add(".Sh " + mdoc_word(upper(text)));
  fresh_ = true;
}

void MdocPage::subheading(const std::string& text) {
  add(".Ss " + mdoc_word(text));
  fresh_ = true;
}

void MdocPage::paragraph(const std::string& text) {
  if (!fresh_) add(".Pp");
  add(running(inline_text(text)));
  fresh_ = false;
}

void MdocPage::literal(const std::string& lines) {
  add(".Bd -literal -offset indent");
  for (size_t at = 0; at < lines.size();) {
    const size_t end = std::min(lines.find('\n', at), lines.size());
    add("\\&" + escaped(lines.substr(at, end - at)));
    at = end + 1;
  }
  add(".Ed");
  fresh_ = false;
}

void MdocPage::begin(List list) {
  constexpr const char* kMacros[] = {".Bl -tag -width Ds", ".Bl -bullet", ".Bl -enum"};
  add(kMacros[static_cast<int>(list)]);
}

void MdocPage::item(const std::string& tag, const std::string& text) {
  add(tag.empty() ? ".It" : ".It " + tag);
  if (!text.empty()) add(running(inline_text(text)));
}

void MdocPage::end() {
  add(".El");
  fresh_ = false;
}

void MdocPage::macro(const std::string& line) { add(line); }

}  // namespace penna
