// SPDX-License-Identifier: MIT
// See sql_console.h. Completions come from DuckDB itself (sql_auto_complete).
#include "cli/sql/sql_console.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <iostream>

#include "base/say.h"
#include "base/user_directories.h"
#include "cli/sql/line_editor.h"
#include "sql/duckdb/values.h"

namespace penna {
namespace {

// `before`: what was typed in the lines before; the word begins at `start` of the line.
std::vector<std::string> completions(SqlDatabase& database, const std::string& before, const std::string& line,
                                     size_t start) {
  std::vector<std::string> words;
  const std::string text = before + line;
  const std::string typed = line.substr(start);
  const auto starts = [&](std::string_view word) {
    return word.size() >= typed.size() && std::equal(typed.begin(), typed.end(), word.begin(), [](char a, char b) {
             return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
           });
  };
  const std::string query = fmt::format("SELECT suggestion FROM sql_auto_complete({}) WHERE suggestion_start = {}",
                                        sql_quoted(text), before.size() + start);
  (void)database.run(query, [&](SqlResult& result) -> Result<bool> {
    while (DuckChunk chunk = PENNA_TRY(result.next())) {
      const DuckColumn column(result.api(), result.api().data_chunk_get_vector(chunk, 0), result.type(0));
      for (uint64_t row = 0; row < result.api().data_chunk_get_size(chunk); ++row) {
        std::string word = column.text(row);
        while (word.ends_with(' ')) word.pop_back();
        if (starts(word) && std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
      }
      result.done(chunk);
    }
    return true;
  });
  return words;
}

bool is_whole(const std::string& text) {
  const size_t last = text.find_last_not_of(" \t\n");
  return last != std::string::npos && text[last] == ';';
}

}  // namespace

// Ctrl-C ends a running query (cmd_sql.cc); at the prompt, it drops the typed text.
static volatile std::sig_atomic_t interrupted = 0;

void run_sql_console(SqlDatabase& database, const std::function<void(const std::string&)>& run) {
  std::string text;  // of the statement so far
  const Result<std::string> state = state_home();
  LineEditor editor(state ? *state + "/sql_history" : "",
                    [&](const std::string& line, size_t start) { return completions(database, text, line, start); });
  say(fmt::format("SHOW TABLES; and DESCRIBE call; say what there is. A statement ends with ;, Ctrl-D ends penna{}",
                  editor.can_edit() ? "" : "; install libedit2 for history and completion"));
  struct sigaction before {};
  struct sigaction note {};
  note.sa_handler = [](int) { interrupted = 1; };
  ::sigaction(SIGINT, &note, &before);
  for (;;) {
    interrupted = 0;
    const std::optional<std::string> line = editor.read(text.empty() ? "sql> " : "...> ");
    if (!line && interrupted == 0) break;
    if (!line) {
      text.clear();
      std::cin.clear();  // if lines are not edited
      fmt::print("\n");
      std::fflush(stdout);
      continue;
    }
    if (text.empty() && line->find_first_not_of(" \t") == std::string::npos) continue;
    text += *line + "\n";
    if (!is_whole(text)) continue;
    std::string entry = text.substr(0, text.size() - 1);
    std::replace(entry.begin(), entry.end(), '\n', ' ');
    editor.remember(entry);
    const std::string whole = std::exchange(text, "");
    run(whole);
  }
  ::sigaction(SIGINT, &before, nullptr);
  fmt::print("\n");
}

}  // namespace penna
