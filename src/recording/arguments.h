// SPDX-License-Identifier: MIT
// A point's argument values, decoded from an untrusted payload by the types of its site.
//
// Invariant: never reads outside the payload; a missing value is marked as missing, never made up.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "recording/records.h"
#include "recording/types.h"

namespace penna {

struct ArgumentValue {
  uint8_t type = 0;           // penna_arg_type; 0 or unknown: only `bits` is known
  bool present = false;       // false: the payload ended before it
  bool bad = false;           // a call's value that could not be read at the address `bits`
  bool cut = false;           // a string or array that was longer at run time
  uint64_t bits = 0;          // the word, except for strings and arrays
  std::string_view text{};    // string: the program's raw bytes, maybe not UTF-8; array: its elements' bytes.
                              // Valid as long as the record
  uint8_t element_type = 0;   // array: penna_arg_type
  uint8_t element_bytes = 1;  // array: size of each element, 1 to 8

  bool is_text() const { return type == PENNA_ARG_STRING; }
  bool is_array() const { return type == PENNA_ARG_ARRAY; }
  bool is_number() const { return type == PENNA_ARG_INT || type == PENNA_ARG_UINT || type == PENNA_ARG_FLOAT; }
  int64_t as_int() const { return static_cast<int64_t>(bits); }
  uint64_t as_uint() const { return bits; }
  double as_float() const;   // of PENNA_ARG_FLOAT
  double as_number() const;  // of any numeric type, as its nearest double
};

struct DecodedPoint {
  std::vector<ArgumentValue> values;  // one per argument of the site; without a site one per word
  bool malformed = false;             // the payload is shorter or longer than the site says
};

// For a POINT or VALUES record. `site` may be null: not described in the recording. Reuses out's memory.
void decode_arguments(const Site* site, const Record& record, DecodedPoint& out);

// "42", "-1", "2.5", "0x7f00", "true", "'c'", "[1, 2, 3]", a string verbatim (the views quote it), "?" if not present,
// "<bad 0x10>" if it could not be read, "NULL" if there was nothing to read. A cut value ends with "...".
std::string argument_text(const ArgumentValue& value);

// The same, formatted as the site asks: in hex, or by the names of an enum ("RED", "READ|WRITE", "7" if none fits).
std::string argument_text(const SiteArgument& described, const ArgumentValue& value);

// "provider:name", or "[unknown site 7]" for null.
std::string site_name(const Site* site, uint32_t id);

}  // namespace penna
