// SPDX-License-Identifier: MIT
// The macros beside the tables: what joins of times and stacks would have to spell out each time.
#include "sql/duckdb/database.h"

namespace penna {

std::string sql_macros() {
  // inside(c, e): the event e happened during the call (or span, wait, hold) c, in its thread.
  return "CREATE MACRO inside(outer_row, inner_row) AS inner_row.thread = outer_row.thread AND"
         " inner_row.time >= outer_row.time AND inner_row.time < outer_row.time + outer_row.duration;\n"
         // at_stack(id): its functions, the outermost first.
         "CREATE MACRO at_stack(of_id) AS (SELECT s.text FROM stack AS s WHERE s.id = of_id);\n"
         // flame(name): what a table of that name has by stack; for flame graphs.
         "CREATE MACRO flame(rows_of, weight) AS TABLE SELECT coalesce(s.text, '[no stack]') AS stack,"
         " sum(weight) AS value FROM query_table(rows_of) AS r LEFT JOIN stack AS s ON s.id = r.stack"
         " GROUP BY ALL ORDER BY value DESC;\n";
}

}  // namespace penna
