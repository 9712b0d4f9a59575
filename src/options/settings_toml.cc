// SPDX-License-Identifier: MIT
// See settings_toml.h. The only file that knows toml++.
#include "options/settings_toml.h"

#include <fmt/format.h>

#include <optional>

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

namespace penna {
namespace {

std::string place(const std::string& path, const toml::source_region& source) {
  return fmt::format("{}:{}", path, source.begin.line);
}

// The equivalent word of a command line; empty: no option accepts such a value.
std::optional<std::string> text_of(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* number = node.as_integer()) return fmt::format("{}", number->get());
  if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
  return std::nullopt;
}

class TomlReader {
 public:
  TomlReader(const std::string& path, int layer, WhyNoVerb why_no_verb, std::vector<WrittenSetting>& settings)
      : path_(path), layer_(layer), why_no_verb_(why_no_verb), settings_(settings) {}

  Result<> read(const toml::table& table, const std::string& verb) {
    for (const auto& [key, node] : table) {
      const std::string name(key.str());
      const std::string at = place(path_, key.source());
      if (node.is_table() && verb.empty()) {
        if (const std::string why = why_no_verb_(name); !why.empty()) return Error{fmt::format("{}: {}", at, why)};
        PENNA_TRY(read(*node.as_table(), name));
        continue;
      }
      PENNA_TRY(add(verb, name, node, at));
    }
    return ok();
  }

 private:
  Result<> add(const std::string& verb, const std::string& name, const toml::node& node, const std::string& at) {
    Setting setting{"--" + name, {}, true, verb.empty(), layer_, at};
    const Error wrong{fmt::format("{}: {} is a text, a number, true, false, or a list of texts", at, name)};
    if (const auto* flag = node.as_boolean()) {
      setting.on = flag->get();
    } else if (const auto* list = node.as_array()) {
      for (const toml::node& each : *list) {
        const std::optional<std::string> text = text_of(each);
        if (!text) return wrong;
        setting.values.push_back(*text);
      }
      if (setting.values.empty()) return ok();  // as if it were absent
    } else if (const std::optional<std::string> text = text_of(node)) {
      setting.values.push_back(*text);
    } else {
      return wrong;
    }
    settings_.push_back({verb, std::move(setting)});
    return ok();
  }

  const std::string& path_;
  int layer_;
  WhyNoVerb why_no_verb_;
  std::vector<WrittenSetting>& settings_;
};

}  // namespace

std::string toml_text(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') {
      result += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
      continue;
    }
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

Result<> add_toml(const std::string& text, const std::string& path, int layer, WhyNoVerb why_no_verb,
                  std::vector<WrittenSetting>& settings) {
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed) return Error{fmt::format("{}: {}", place(path, parsed.error().source()), parsed.error().description())};
  return TomlReader(path, layer, why_no_verb, settings).read(parsed.table(), "");
}

}  // namespace penna
