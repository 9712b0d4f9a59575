// SPDX-License-Identifier: MIT
// See value_planner.h.
#include "plan/value_planner.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "plan/file_symbols.h"
#include "symbols/symbol_file.h"

namespace penna {
namespace {

// Room for text in a SITE record.
constexpr size_t kMostText = (PENNA_MAX_RECORD_WORDS - 1) * 8 - sizeof(penna_site_info);

struct NamedFunction {
  std::string shown;            // what reports call it
  std::set<std::string> names;  // all that it has, demangled
  bool is_resolver = false;     // an ifunc: calls of the form it chooses are recorded by its name (--libcalls)
};

constexpr const char* kTypesOfResolver =
    "it is an ifunc, and debug information describes only its resolver: say which, as FUNCTION@arg1/x,arg2";

// Functions by address, with every name that they have: "open" and "open64" are one.
std::map<uint64_t, NamedFunction> functions_of(const ElfFile& file, const std::string& path) {
  std::map<uint64_t, NamedFunction> functions;
  if (auto symbols = SymbolFile::open({path, file.build_id()}, {}))
    for (const Symbol& symbol : (*symbols)->functions())
      if ((symbol.kind == SymbolKind::kFunction || symbol.kind == SymbolKind::kIfunc) &&
          symbol.raw.find(".cold") == symbol.raw.npos) {  // parts of others
        NamedFunction& function = functions[symbol.start];
        function.shown = symbol.name;
        function.is_resolver = symbol.kind == SymbolKind::kIfunc;
        function.names.insert(function.shown);
      }
  for_each_symbol(file, [&](std::string_view name, const GElf_Sym& symbol, bool /*is_dynamic*/) {
    const auto known = functions.find(symbol.st_value);
    const auto type = GELF_ST_TYPE(symbol.st_info);
    if (known == functions.end() || (type != STT_FUNC && type != STT_GNU_IFUNC)) return;
    known->second.names.insert(demangle(std::string(name.substr(0, name.find('@'))), Demangle::kFull));
  });
  return functions;
}

// The text of a SITE record. Names of enums that do not fit are left out: then numbers are shown.
std::string site_text(uint8_t kind, const std::string& function, const std::string& file,
                      const std::vector<CapturedValue>& values) {
  std::string text, formats;
  const auto add = [](std::string& to, const std::string& one) { to.append(one.c_str(), one.size() + 1); };
  add(text, kind == PENNA_SITE_RESULT ? "return" : "call");
  add(text, function.substr(0, 512));
  add(text, file.substr(0, 256));
  for (const CapturedValue& value : values) add(text, value.name.substr(0, 64));
  // One zero byte for each format stays reserved, whether its names fit or not.
  size_t room = kMostText - std::min(kMostText, text.size() + values.size());
  for (const CapturedValue& value : values) {
    const bool fits = value.format.size() <= room;
    if (fits) room -= value.format.size();
    add(formats, fits ? value.format : "");
  }
  return text + formats;
}

PlannedCapture capture_of(uint64_t function, uint8_t kind, const std::string& name, const Signature* signature,
                          std::vector<CapturedValue> values) {
  if (values.size() > PENNA_MAX_ARGS) {
    values.resize(PENNA_MAX_ARGS);
    std::string& last = values.back().format;
    if (last != "..." && !last.ends_with(" ...")) last += " ...";
  }
  PlannedCapture capture{function, kind, signature != nullptr ? signature->line : 0, {}, {}};
  for (const CapturedValue& value : values) capture.values.push_back(value.where);
  capture.text = site_text(kind, name, signature != nullptr ? signature->file : "", values);
  return capture;
}

// The call stack, before the arguments.
CapturedValue callers() {
  CapturedValue stack;
  stack.name = stack.format = "stack";
  stack.where.place = PENNA_VALUE_CALLERS;
  stack.where.type = PENNA_ARG_UINT;
  stack.where.bytes = sizeof(uint32_t);
  return stack;
}

// One module's signatures, which are looked for when they are first needed.
class Types {
 public:
  explicit Types(const ElfFile& file) : file_(file) {}
  // Null: `reason` says why.
  const Signature* of(uint64_t function, std::string* reason) {
    // Not before a function needs it: debug information is large, and values that the user has spelled do without.
    if (!opened_) {
      opened_ = true;
      auto signatures = Signatures::open(file_, {});
      if (signatures)
        signatures_ = std::move(*signatures);
      else
        why_not_ = "its module has no debug information: build it with -g or install its -dbgsym package";
    }
    if (!signatures_) return *reason = why_not_, nullptr;
    auto found = signatures_->of(function);
    if (!found) return *reason = found.error().text, nullptr;
    signature_ = std::move(*found);
    *reason = signature_.note;
    return &signature_;
  }

 private:
  const ElfFile& file_;
  bool opened_ = false;
  std::unique_ptr<Signatures> signatures_;
  std::string why_not_;
  Signature signature_;
};

}  // namespace

PlannedValues plan_values(const ElfFile& file, const std::string& path, const ValueRequests& requests,
                          bool calls_hooks) {
  PlannedValues planned;
  Types types(file);
  for (const auto& known : functions_of(file, path)) {
    const uint64_t address = known.first;
    const NamedFunction& function = known.second;
    WantedValues wanted;
    std::string shown = function.shown;
    for (const std::string& name : function.names) {
      WantedValues by = requests(name, path);
      if (by.by_name && !wanted.by_name) shown = name;
      if ((by.by_name && !wanted.by_name) || !wanted.any()) wanted = std::move(by);
    }
    if (!wanted.any()) continue;
    if (calls_hooks) {
      if (wanted.by_name)
        planned.refused.push_back(
            {shown, "the hooks that -finstrument-functions calls cannot see them: build it with -pg -mfentry"});
      if (wanted.callers)
        planned.captures.push_back(capture_of(address, PENNA_SITE_ARGUMENTS, shown, nullptr, {callers()}));
      continue;
    }
    std::string reason;
    const bool by_types = wanted.arguments_by_type || wanted.results_by_type;
    const Signature* signature = by_types && !function.is_resolver ? types.of(address, &reason) : nullptr;
    if (by_types && function.is_resolver) reason = kTypesOfResolver;
    if (!reason.empty() && wanted.by_name) planned.refused.push_back({shown, reason});
    const auto add = [&](uint8_t kind, bool by_type, const std::vector<CapturedValue>& spelled,
                         const std::vector<CapturedValue> Signature::*typed) {
      const bool use_types = spelled.empty() && by_type && signature != nullptr;
      std::vector<CapturedValue> values = use_types ? signature->*typed : spelled;
      if (wanted.callers && kind == PENNA_SITE_ARGUMENTS) values.insert(values.begin(), callers());
      if (!values.empty()) planned.captures.push_back(capture_of(address, kind, shown, signature, values));
    };
    add(PENNA_SITE_ARGUMENTS, wanted.arguments_by_type, wanted.arguments, &Signature::arguments);
    add(PENNA_SITE_RESULT, wanted.results_by_type, wanted.results, &Signature::results);
  }
  return planned;
}

void append_captures(std::span<const PlannedCapture> captures, uint64_t bias, std::vector<penna_capture>* to,
                     std::vector<penna_value>* values, std::string* text) {
  for (const PlannedCapture& planned : captures) {
    penna_capture capture{};
    capture.function = planned.function + bias;
    capture.first = static_cast<uint32_t>(values->size());
    capture.text = static_cast<uint32_t>(text->size());
    capture.text_bytes = static_cast<uint16_t>(planned.text.size());
    capture.values = static_cast<uint8_t>(planned.values.size());
    capture.kind = planned.kind;
    capture.line = planned.line;
    to->push_back(capture);
    values->insert(values->end(), planned.values.begin(), planned.values.end());
    *text += planned.text;
  }
}

}  // namespace penna
