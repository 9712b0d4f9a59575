// SPDX-License-Identifier: MIT
// See known_probes.h.
#include "attach/known_probes.h"

#include <fmt/core.h>

#include <algorithm>

namespace penna {
namespace {

struct KnownProbe {
  std::string_view provider;
  std::vector<std::string_view> names;
  std::string_view arguments;  // separated by spaces; with a colon behind: text
};

const std::vector<KnownProbe>& known_probes() {
  static const std::vector<KnownProbe> list = {
      {"python", {"function__entry", "function__return", "line"}, "file: function: line"},
      {"python", {"import__find__load__start"}, "module:"},
      {"python", {"import__find__load__done"}, "module: found"},
      {"python", {"audit"}, "event: arguments"},
      {"python", {"gc__start"}, "generation"},
      {"python", {"gc__done"}, "collected"},
      {"ruby", {"method__entry", "method__return", "cmethod__entry", "cmethod__return"}, "class: method: file: line"},
      {"ruby", {"require__entry", "load__entry", "find__require__entry", "find__require__return"}, "name: file: line"},
      {"ruby", {"require__return", "load__return"}, "name: file: line"},
      {"ruby", {"raise", "object__create"}, "class: file: line"},
      {"ruby", {"array__create", "hash__create", "string__create"}, "length file: line"},
      {"ruby", {"symbol__create"}, "text: file: line"},
      {"ruby", {"parse__begin", "parse__end"}, "file: line"},
      {"ruby", {"method__cache__clear"}, "class: file: line"},
      {"php", {"function__entry", "function__return"}, "function: file: line class: scope:"},
      {"php", {"execute__entry", "execute__return"}, "file: line"},
      {"php", {"request__startup", "request__shutdown"}, "file: uri: method:"},
      {"php", {"compile__file__entry", "compile__file__return"}, "file: translated:"},
      {"php", {"exception__thrown", "exception__caught"}, "class:"},
      {"php", {"error"}, "message: file: line"},
      {"postgresql",
       {"query__start", "query__done", "query__parse__start", "query__parse__done", "query__rewrite__start",
        "query__rewrite__done", "statement__status"},
       "query:"},
  };
  return list;
}

std::vector<KnownArgument> parse_arguments(std::string_view text) {
  std::vector<KnownArgument> found;
  while (!text.empty()) {
    std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    const bool is_text = word.back() == ':';
    if (is_text) word.remove_suffix(1);
    found.push_back({std::string(word), is_text});
  }
  return found;
}

}  // namespace

std::vector<KnownArgument> arguments_of_probe(std::string_view provider, std::string_view name, size_t count) {
  for (const KnownProbe& probe : known_probes()) {
    if (probe.provider != provider || std::find(probe.names.begin(), probe.names.end(), name) == probe.names.end())
      continue;
    std::vector<KnownArgument> found = parse_arguments(probe.arguments);
    if (found.size() == count) return found;
  }
  std::vector<KnownArgument> numbered(count);
  for (size_t i = 0; i < count; ++i) numbered[i].name = fmt::format("arg{}", i);
  return numbered;
}

}  // namespace penna
