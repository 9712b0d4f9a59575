// SPDX-License-Identifier: MIT
// See known_probes.h.
#include "plan/known_probes.h"

#include <fmt/core.h>

#include <algorithm>

namespace penna {
namespace {

struct KnownProbe {
  std::string_view provider;
  std::vector<std::string_view> names;
  std::string_view
      arguments;  // separated by spaces; followed by a colon: text; by two: text, and its length in the next
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

// Those of the Java virtual machine, whose strings are in UTF-8 and have a length.
const std::vector<KnownProbe>& hotspot_probes() {
  static const std::vector<KnownProbe> list = {
      {"hotspot", {"method__entry", "method__return"}, "thread class:: method:: signature::"},
      {"hotspot", {"method__compile__begin"}, "compiler:: class:: method:: signature::"},
      {"hotspot", {"method__compile__end"}, "compiler:: class:: method:: signature:: compiled"},
      {"hotspot", {"compiled__method__load"}, "class:: method:: signature:: code size"},
      {"hotspot", {"compiled__method__unload"}, "class:: method:: signature::"},
      {"hotspot", {"class__loaded", "class__unloaded"}, "class:: loader shared"},
      {"hotspot", {"class__initialization__required"}, "class:: loader thread_type"},
      {"hotspot",
       {"class__initialization__recursive", "class__initialization__concurrent", "class__initialization__erroneous",
        "class__initialization__super__failed", "class__initialization__clinit", "class__initialization__error",
        "class__initialization__end"},
       "class:: loader thread_type waited"},
      {"hotspot", {"object__alloc"}, "thread class:: bytes"},
      {"hotspot",
       {"monitor__contended__enter", "monitor__contended__entered", "monitor__contended__exit", "monitor__notify",
        "monitor__notifyAll", "monitor__waited"},
       "thread monitor class::"},
      {"hotspot", {"monitor__wait"}, "thread monitor class:: timeout"},
      {"hotspot", {"thread__start", "thread__stop"}, "name:: thread native_thread daemon"},
      {"hotspot", {"thread__sleep__begin"}, "duration"},
      {"hotspot", {"thread__sleep__end"}, "interrupted"},
      {"hotspot", {"thread__park__begin"}, "parker absolute time"},
      {"hotspot", {"thread__park__end", "thread__unpark"}, "parker"},
      {"hotspot", {"gc__begin"}, "full"},
      {"hotspot",
       {"mem__pool__gc__begin", "mem__pool__gc__end"},
       "manager:: pool:: initial_bytes used_bytes committed_bytes max_bytes"},
      {"hotspot", {"vmops__request", "vmops__begin", "vmops__end"}, "operation:: mode"},
      {"hotspot_jni", {"FindClass__entry"}, "env class:"},
      {"hotspot_jni", {"DefineClass__entry"}, "env class: loader buffer bytes"},
      {"hotspot_jni",
       {"GetMethodID__entry", "GetStaticMethodID__entry", "GetFieldID__entry", "GetStaticFieldID__entry"},
       "env class name: signature:"},
      {"hotspot_jni", {"NewStringUTF__entry"}, "env text:"},
      {"hotspot_jni", {"ThrowNew__entry"}, "env class message:"},
  };
  return list;
}

std::vector<KnownArgument> parse_arguments(std::string_view text) {
  std::vector<KnownArgument> found;
  while (!text.empty()) {
    std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    const size_t name_end = std::min(word.find(':'), word.size());
    const auto meaning = static_cast<KnownArgument::Meaning>(word.size() - name_end);
    found.push_back({std::string(word.substr(0, name_end)), meaning});
  }
  return found;
}

size_t noted_arguments(const std::vector<KnownArgument>& known) {
  size_t count = known.size();
  for (const KnownArgument& argument : known) count += argument.meaning == KnownArgument::kTextAndLength ? 1 : 0;
  return count;
}

}  // namespace

std::vector<KnownArgument> arguments_of_probe(std::string_view provider, std::string_view name, size_t count) {
  for (const KnownProbe& probe : provider.starts_with("hotspot") ? hotspot_probes() : known_probes()) {
    if (probe.provider != provider || std::find(probe.names.begin(), probe.names.end(), name) == probe.names.end())
      continue;
    std::vector<KnownArgument> found = parse_arguments(probe.arguments);
    if (noted_arguments(found) == count) return found;
  }
  std::vector<KnownArgument> numbered(count);
  for (size_t i = 0; i < count; ++i) numbered[i].name = fmt::format("arg{}", i);
  return numbered;
}

}  // namespace penna
