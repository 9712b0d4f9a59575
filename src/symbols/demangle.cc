// SPDX-License-Identifier: MIT
// See demangle.h.
#include "symbols/demangle.h"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>

#include "symbols/name_parts.h"
#include "symbols/shortened_name.h"

namespace penna {
namespace {

// Reads the <seq-id> of "S_", "S1A_", "T_", "T2_" after its letter at `at`; false if it is something else ("St").
bool read_reference(std::string_view text, size_t at, size_t* index, size_t* end) {
  size_t value = 0, i = at + 1;
  for (; i < text.size() && text[i] != '_'; ++i) {
    char c = text[i];
    if (i - at > 6) return false;
    if (c >= '0' && c <= '9') {
      value = value * 36 + static_cast<size_t>(c - '0');
    } else if (c >= 'A' && c <= 'Z') {
      value = value * 36 + static_cast<size_t>(c - 'A' + 10);
    } else {
      return false;
    }
  }
  if (i >= text.size()) return false;
  *index = i == at + 1 ? 0 : value + 1;
  *end = i + 1;
  return true;
}

// Position after the "X for " or "X thunk to " of a name that says something about another one; 0 for all others.
size_t subject_at(std::string_view full) {
  for (std::string_view link : {" for ", " thunk to "}) {
    const size_t at = full.find(link);
    if (at != std::string_view::npos && full.find_first_of("<(") >= at) return at + link.size();
  }
  return 0;
}

// The length of "*", "&", "A<int>::*" at the start of a declarator ("*f<int>(int)"); 0 if it starts with none.
size_t pointer_size(std::string_view text) {
  size_t i = 0;
  while (i < text.size() && text[i] != '*' && text[i] != '&') {
    if (is_word(text[i]) || text[i] == ':') {
      ++i;
    } else if (text[i] == '<' || text[i] == '{' || text.substr(i).starts_with(kAnonymous)) {
      i = skip_brackets(text, i);
    } else {
      return 0;
    }
  }
  if (i >= text.size() || (i != 0 && text[i - 1] != ':')) return 0;
  while (i < text.size() && (text[i] == '*' || text[i] == '&')) ++i;
  for (std::string_view word : {" const", " volatile", " "})
    if (text.substr(i).starts_with(word)) i += word.size();
  return i;
}

// "void f<int>(int)" is "f<int>(int)": only template instances include their return type, which comes before, or for
// pointers to functions and arrays around, name and parameters (Itanium ABI 5.1.5.3).
std::string_view without_return_type(std::string_view full) {
  if (subject_at(full) != 0) return full;  // about a type or variable
  size_t name = 0;
  for (size_t i = 0; i < full.size();) {
    const std::string_view rest = full.substr(i);
    if (begins_operator(rest, full.substr(0, i))) break;
    if (rest.starts_with(kAnonymous) || rest[0] == '<' || rest[0] == '{' || rest[0] == '[') {
      i += skip_brackets(rest, 0);
    } else if (rest[0] == '(') {
      const std::string_view before = full.substr(0, i);
      const auto follows = [&](std::string_view word) {
        return before.size() >= word.size() && before.substr(before.size() - word.size()) == word;
      };
      const size_t end = skip_brackets(rest, 0);
      if (follows("decltype ") || follows("decltype") || follows("__vector")) {
        i += end;
        continue;
      }
      if (const size_t size = pointer_size(rest.substr(1)); size != 0 && end > size + 1)
        return without_return_type(rest.substr(1 + size, end - size - 2));
      break;  // parameters
    } else {
      ++i;
      if (rest[0] == ' ') name = i;
    }
  }
  return name >= full.size() ? full : full.substr(name);
}

// Link-time optimisation renames whole functions to keep them distinct: "init.lto_priv.0", "init.llvm.123" are "init".
// (".cold", ".part.0" and ".isra.0" stay: their code differs from the function of that name.)
std::string_view without_artificial_suffix(std::string_view name) {
  for (std::string_view mark : {".lto_priv.", ".llvm."}) {
    size_t at = name.find(mark);
    if (at == std::string_view::npos || at == 0) continue;
    size_t end = name.find_first_not_of("0123456789", at + mark.size());
    if (end == std::string_view::npos) return name.substr(0, at);
  }
  return name;
}

}  // namespace

uint64_t demangled_size_bound(std::string_view raw) {
  // A component S<n>_ was complete before anything referred to n or a later one, so it is no larger than all the text
  // up to the first such reference. `known` holds these sizes, by rising n.
  struct Known {
    size_t index;
    uint64_t size;
  };
  std::array<Known, 64> known{};
  size_t known_count = 0;
  uint64_t total = 0;
  for (size_t i = 0; i < raw.size();) {
    size_t index = 0, end = 0;
    if ((raw[i] != 'S' && raw[i] != 'T') || !read_reference(raw, i, &index, &end)) {
      // "St" and the like stand for up to 80 letters of standard library names.
      total += raw[i] == 'S' ? 80 : 1;
      ++i;
      continue;
    }
    if (raw[i] == 'T') {
      total *= 2;  // a template argument: no larger than everything so far
    } else {
      size_t at = 0;
      while (at < known_count && known[at].index < index) ++at;
      if (at == known_count) {
        if (known_count == known.size()) return UINT64_MAX;
        known[known_count++] = {index, total};
      }
      total += known[at].size;
    }
    if (total > kDemangleLimit) return total;
    i = end;
  }
  return total + raw.size();
}

std::string simple_name(std::string_view full) {
  // "vtable for X", "non-virtual thunk to X::f()": the prefix stays.
  if (const size_t at = subject_at(full); at != 0)
    return std::string(full.substr(0, at)) + simple_name(full.substr(at));
  std::string out;
  bool after_parameters = false;
  for (size_t i = 0; i < full.size();) {
    std::string_view rest = full.substr(i);
    if (begins_operator(rest, out)) {
      i += take_operator(rest, &out);
    } else if (rest.starts_with(kAnonymous)) {
      out += kAnonymous;
      i += kAnonymous.size();
    } else if (rest[0] == '{') {  // "{lambda(int)#2}" is "{lambda#2}"
      size_t end = skip_brackets(rest, 0), open = rest.find('(');
      out += rest.substr(0, std::min(open, end));
      if (open < end) out += rest.substr(skip_brackets(rest, open), end - skip_brackets(rest, open));
      i += end;
    } else if (rest[0] == '(' || rest[0] == '<' || rest.substr(0, 5) == "[abi:") {
      after_parameters = rest[0] == '(';
      i += skip_brackets(rest, 0);
    } else if (rest[0] == '[') {
      break;  // "[clone .cold]"
    } else if (rest[0] == ' ') {
      // After parameters it starts a qualifier (" const", " &&", " [clone"); elsewhere it ends a return type.
      if (!after_parameters) out.clear();
      ++i;
      if (after_parameters && i < full.size() && full[i] != '[') {
        while (i < full.size() && (is_word(full[i]) || full[i] == '&')) ++i;
      }
    } else {
      after_parameters = false;
      out += rest[0];
      ++i;
    }
  }
  return out.empty() ? std::string(full) : out;
}

std::string in_style(std::string_view full, Demangle style) {
  if (style == Demangle::kShort) return shortened_name(full);
  return style == Demangle::kSimple ? simple_name(full) : std::string(full);
}

std::string demangle(std::string_view raw, Demangle style) {
  if (style == Demangle::kNo) return std::string(raw);
  std::string name(without_artificial_suffix(raw.substr(0, raw.find('@'))));
  if (name.empty()) return std::string(raw);
  if (name.compare(0, 2, "_Z") != 0 && name.compare(0, 3, "__Z") != 0) {
    if (style == Demangle::kSimple) name.resize(std::min(name.find('.', 1), name.size()));
    return name;
  }
  if (demangled_size_bound(name) > kDemangleLimit) return name;
  int status = 0;
  std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  if (status != 0 || text == nullptr) return name;
  const std::string_view full = without_return_type(text.get());
  return in_style(full, style);
}

std::optional<size_t> parameter_count(std::string_view full) {
  size_t end = full.rfind(')');
  // Only " const", " &" and the like may follow.
  if (end == std::string_view::npos || full.substr(end + 1).find_first_of("<>{}[]:") != std::string_view::npos)
    return std::nullopt;
  // From the last bracket back to its opening one.
  size_t depth = 0, commas = 0, at = end + 1;
  while (at-- > 0) {
    const char c = full[at];
    const bool closes = c == ')' || c == ']' || c == '}' || (c == '>' && (at == 0 || full[at - 1] != '-'));
    const bool opens = c == '(' || c == '[' || c == '{' || c == '<';
    if (closes) ++depth;
    if (c == ',' && depth == 1) ++commas;
    if (opens && --depth == 0) break;
  }
  if (depth != 0 || full[at] != '(') return std::nullopt;
  const std::string_view inside = full.substr(at + 1, end - at - 1);
  if (inside.empty() || inside == "...") return 0;
  const bool variadic = inside.size() > 3 && inside.substr(inside.size() - 3) == "...";
  return commas + (variadic ? 0 : 1);
}

}  // namespace penna
