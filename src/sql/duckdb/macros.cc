// SPDX-License-Identifier: MIT
// The macros beside the tables: what joins of times and stacks would have to spell out each time.
#include "sql/duckdb/database.h"

namespace penna {

std::string sql_macros() {
  // inside(c, e): the event e happened in the thread of c (a call, span, wait or hold), while c lasted.
  return "CREATE MACRO inside(whole, part) AS part.thread = whole.thread AND part.time >= whole.time AND"
         " part.time < whole.time + whole.duration;\n"
         // meets(a, b): both were in progress at some time, in any threads.
         "CREATE MACRO meets(one, other) AS one.recording = other.recording AND one.time < other.time + "
         "other.duration"
         " AND other.time < one.time + one.duration;\n"
         // at_stack(id): its functions, outermost first.
         "CREATE MACRO at_stack(of_id) AS (SELECT s.text FROM stack AS s WHERE s.id = of_id);\n"
         // flame('wait', duration): the sum of a table's column for each stack; as in `penna export folded`.
         "CREATE MACRO flame(rows_of, weight) AS TABLE SELECT coalesce(s.text, '[no stack]') AS stack,"
         " sum(weight)::BIGINT AS value FROM query_table(rows_of) AS r LEFT JOIN stack AS s ON s.id = r.stack"
         " GROUP BY ALL ORDER BY value DESC;\n"
         // call_flame(): the same for calls, whose stacks are their callers.
         "CREATE MACRO call_flame() AS TABLE WITH RECURSIVE path AS (SELECT id, function AS stack, self FROM call WHERE"
         " parent IS NULL UNION ALL SELECT c.id, p.stack || ';' || c.function, c.self FROM call AS c JOIN path AS p ON"
         " c.parent = p.id) SELECT stack, sum(self)::BIGINT AS value FROM path GROUP BY ALL ORDER BY value DESC;\n";
}

}  // namespace penna
