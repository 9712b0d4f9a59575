// SPDX-License-Identifier: MIT
// See shortened_name.h.
#include "symbols/shortened_name.h"

#include <algorithm>
#include <array>
#include <vector>

#include "symbols/name_parts.h"

namespace penna {
namespace {

constexpr std::string_view kDots = "…";
// Most characters in an argument list, by nesting depth. Deeper ones are "<…>".
constexpr std::array<size_t, 2> kMostOfList = {48, 24};

// Counts as one depth, so that a list in parameters is not shown in more detail.
constexpr size_t kInParameters = 1;

bool is_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

// "std::vector" of "std::vector<int>".
std::string_view head_of(std::string_view argument) { return argument.substr(0, argument.find('<')); }

bool is_of_library(std::string_view name) { return name.starts_with("std::") || name.starts_with("__gnu_cxx::"); }

bool is_default(std::string_view argument) {
  return is_any(head_of(argument), {"std::allocator", "std::less", "std::hash", "std::equal_to", "std::char_traits",
                                    "std::default_delete", "std::regex_traits"});
}

// The default containers of queues.
bool is_default_container(std::string_view argument, std::string_view name) {
  const std::string_view head = head_of(argument);
  return (head == "std::deque" && is_any(name, {"std::queue", "std::stack"})) ||
         (head == "std::vector" && name == "std::priority_queue");
}

// "std::string" for "std::basic_string" with the argument char; "" if there is no such word.
std::string word_for(std::string_view name, std::string_view argument) {
  constexpr std::string_view kBegin = "std::basic_";
  struct Prefix {
    std::string_view character, letters;
  };
  constexpr Prefix kPrefixes[] = {
      {"char", ""}, {"wchar_t", "w"}, {"char8_t", "u8"}, {"char16_t", "u16"}, {"char32_t", "u32"}};
  if (!name.starts_with(kBegin)) return "";
  const std::string_view rest = name.substr(kBegin.size());
  const bool is_known =
      is_any(rest, {"string", "string_view", "regex", "ios", "streambuf", "istream", "ostream", "iostream", "filebuf",
                    "ifstream", "ofstream", "fstream", "stringbuf", "istringstream", "ostringstream", "stringstream"});
  for (const Prefix& prefix : kPrefixes)
    if (is_known && argument == prefix.character) return "std::" + std::string(prefix.letters) + std::string(rest);
  return "";
}

// Characters, not bytes.
size_t length_of(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & '\xc0') != '\x80'; }));
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// At commas outside of all brackets.
std::vector<std::string_view> split(std::string_view list) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  for (size_t i = 0; i < list.size();) {
    if (list[i] == '(' || list[i] == '<' || list[i] == '[' || list[i] == '{') {
      i = skip_brackets(list, i);
    } else if (list[i++] == ',') {
      parts.push_back(trimmed(list.substr(begin, i - 1 - begin)));
      begin = i;
    }
  }
  parts.push_back(trimmed(list.substr(begin)));
  if (parts.size() > 1) std::erase(parts, "");  // from packs without arguments
  return parts;
}

// Where the name at the end of `text` begins: "std::vector" of "f(std::vector", "std::operator+", "std::operator< ".
size_t name_at(std::string_view text) {
  constexpr std::string_view kOperator = "operator";
  size_t begin = text.find_last_not_of("+-*/%^&|~!=<>,()[] ") + 1;
  if (!text.substr(0, begin).ends_with(kOperator)) begin = text.size();
  while (begin != 0 && (is_word(text[begin - 1]) || text[begin - 1] == ':')) --begin;
  return begin;
}

// The length of an inline namespace's name at the start of `rest`, in std:: or deeper; 0 if there is none.
size_t inline_namespace(std::string_view out, std::string_view rest) {
  if (rest[0] != '_' || !out.ends_with("::") || !out.substr(name_at(out)).starts_with("std::")) return 0;
  for (std::string_view name : {"__cxx11::", "__1::", "__2::", "__ndk1::", "_V2::"})
    if (rest.starts_with(name)) return name.size();
  return 0;
}

std::string shorten(std::string_view text, size_t depth);

std::string joined(const std::vector<std::string>& parts, size_t most) {
  std::string list;
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string next = (i == 0 ? "" : ", ") + parts[i];
    const size_t dots = i + 1 == parts.size() ? 0 : 2 + 1;  // ", …"
    if (length_of(list) + length_of(next) + dots > most) return list + (i == 0 ? "" : ", ") + std::string(kDots);
    list += next;
  }
  return list;
}

std::vector<std::string> shorten_all(const std::vector<std::string_view>& arguments, size_t depth) {
  std::vector<std::string> parts;
  parts.reserve(arguments.size());
  for (std::string_view argument : arguments) parts.push_back(shorten(argument, depth));
  return parts;
}

// Appends the arguments `list` to the template name at the end of `out`, or replaces both by their word.
void add_arguments(std::string_view list, size_t depth, std::string& out) {
  if (trimmed(list).empty()) {
    out += "<>";
    return;
  }
  const size_t begin = name_at(out);
  const std::string name = out.substr(begin);
  std::vector<std::string_view> arguments = split(list);
  if (arguments.empty()) arguments.emplace_back();
  std::vector<std::string> heads;  // without inline namespaces
  heads.reserve(arguments.size());
  for (std::string_view argument : arguments) heads.push_back(shorten(head_of(argument), 0));
  const bool may_drop = is_of_library(name) && !is_any(name, {"std::pair", "std::tuple", "std::variant"});
  while (may_drop && arguments.size() > 1 &&
         (is_default(heads[arguments.size() - 1]) || is_default_container(heads[arguments.size() - 1], name)))
    arguments.pop_back();
  if (arguments.size() == 1) {
    if (const std::string word = word_for(name, arguments[0]); !word.empty()) {
      out.replace(begin, name.size(), word);
      return;
    }
  }
  std::string shown(kDots);
  if (depth < kMostOfList.size()) {
    shown = joined(shorten_all(arguments, depth + 1), SIZE_MAX);
    if (length_of(shown) > kMostOfList[depth])
      shown = joined(shorten_all(arguments, kMostOfList.size()), kMostOfList[depth]);
  }
  out += "<" + shown + ">";
}

// "operator<", or "operator std::string" with the type that it converts to. Returns the number of characters taken.
size_t add_operator(std::string_view rest, size_t depth, std::string& out) {
  std::string name;
  const size_t taken = take_operator(rest, &name);
  const size_t blank = name.find(' ');
  out += blank == name.npos ? name : name.substr(0, blank + 1) + shorten(name.substr(blank + 1), depth);
  if (taken > name.size()) out += ' ';
  return taken;
}

// `depth`: nesting of argument lists around the text.
std::string shorten(std::string_view text, size_t depth) {
  std::string out;
  size_t parentheses = 0;
  for (size_t i = 0; i < text.size();) {
    const std::string_view rest = text.substr(i);
    if (begins_operator(rest, out)) {
      i += add_operator(rest, depth, out);
    } else if (rest.starts_with("->")) {
      out += "->";
      i += 2;
    } else if (rest.starts_with("[abi:")) {
      i = skip_brackets(text, i);
    } else if (rest[0] == '<') {
      const size_t end = skip_brackets(text, i);
      if (text[end - 1] != '>' || end < i + 2) return out + std::string(rest);  // not really brackets
      add_arguments(text.substr(i + 1, end - i - 2), depth + (parentheses == 0 ? 0 : kInParameters), out);
      i = end;
    } else if (rest[0] == '{' && depth + parentheses != 0) {  // "{lambda(int)#2}" is "{lambda#2}"
      const size_t end = skip_brackets(rest, 0), open = std::min(rest.find('('), end);
      out += rest.substr(0, open);
      if (open < end) out += rest.substr(skip_brackets(rest, open), end - skip_brackets(rest, open));
      i += end;
    } else if (const size_t size = inline_namespace(out, rest); size != 0) {
      i += size;
    } else {
      if (rest[0] == '(') ++parentheses;
      if (rest[0] == ')' && parentheses != 0) --parentheses;
      out += rest[0];
      ++i;
    }
  }
  return out;
}

}  // namespace

bool may_be_shortened(std::string_view full) {
  return full.find('<') != full.npos || full.find("std::") != full.npos || full.find("[abi:") != full.npos ||
         full.find('{') != full.npos;
}

std::string shortened_name(std::string_view full) {
  return may_be_shortened(full) ? shorten(full, 0) : std::string(full);
}

}  // namespace penna
