// SPDX-License-Identifier: MIT
// FleetServer: a ClickHouse server as its clients see it: a query goes out, bytes come back.
//
// Why an interface: clients need not know how it is reached (HTTP, in a module that is loaded on demand), and tests can
// replace it by a server that fails at a bad moment.
// Invariant: an outcome says what is certain: kDone, it was done; kRefused, it was not; kUnknown, it is uncertain.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace penna {

struct FleetRequest {
  std::string query;
  std::string_view data{};                                      // of an INSERT: what follows its text
  std::vector<std::pair<std::string, std::string>> settings{};  // of ClickHouse, of this query
  std::function<bool(std::string_view)> take{};                 // gets the answer in pieces; none: it is in `text`
};

struct FleetAnswer {
  enum class Outcome {
    kDone,
    kRefused,  // the server refused it, see `text`: asking again is useless
    kAway,     // no answer, or no room for it: nothing was done, but may be later
    kUnknown,  // the connection broke, or the server has a temporary problem
  } outcome = Outcome::kDone;
  std::string text;  // of kDone the answer; else a sentence
  int code = 0;      // the server's error number; 0: none
  bool is_done() const { return outcome == Outcome::kDone; }
};

class FleetServer {
 public:
  virtual ~FleetServer() = default;
  virtual FleetAnswer ask(const FleetRequest& request) = 0;
  virtual const std::string& name() const = 0;      // its address, for sentences
  virtual const std::string& database() const = 0;  // where the tables are
};

// The rows of an answer in TabSeparated: unescaped; NULL is "\\N".
std::vector<std::vector<std::string>> tab_separated(std::string_view text);
// The cells of one of its lines; NULL is empty.
std::vector<std::optional<std::string>> tab_separated_cells(std::string_view line);
// A text in the server's quotes.
std::string fleet_quoted(std::string_view text);

}  // namespace penna
