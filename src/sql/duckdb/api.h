// SPDX-License-Identifier: MIT
// The part of DuckDB's C API that we call, and the library, which is loaded on demand.
//
// Why declared here: no Debian package has DuckDB's header, and npm's package has only the library. The layouts below
// are those of its C API reference; load() rejects a library that lacks a function or has another version than the one
// that they were checked with. Invariant: a library that others may write to is not loaded.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace penna {

// Opaque to us.
using DuckConfig = struct DuckConfigOpaque*;
using DuckDatabase = struct DuckDatabaseOpaque*;
using DuckConnection = struct DuckConnectionOpaque*;
using DuckStatements = struct DuckStatementsOpaque*;
using DuckPrepared = struct DuckPreparedOpaque*;
using DuckPending = struct DuckPendingOpaque*;
using DuckType = struct DuckTypeOpaque*;
using DuckChunk = struct DuckChunkOpaque*;
using DuckVector = struct DuckVectorOpaque*;
using DuckValue = struct DuckValueOpaque*;
using DuckTableFunction = struct DuckTableFunctionOpaque*;
using DuckBind = struct DuckBindOpaque*;
using DuckInit = struct DuckInitOpaque*;
using DuckCall = struct DuckCallOpaque*;
using DuckDelete = void (*)(void*);
using DuckIndex = uint64_t;

// duckdb_result: passed by value to some functions.
struct DuckResult {
  uint64_t deprecated_counts[3] = {};
  void* deprecated_columns = nullptr;
  char* deprecated_error = nullptr;
  void* internal_data = nullptr;
};

// duckdb_string_t: up to 12 bytes are stored inline.
struct DuckString {
  uint32_t length;
  char begin[4];
  union {
    char more[8];
    const char* pointer;
  };
};
static_assert(sizeof(DuckString) == 16);

struct DuckListEntry {
  uint64_t offset, length;
};
struct DuckInterval {
  int32_t months, days;
  int64_t micros;
};

// duckdb_type.
enum DuckTypeId : int {
  kDuckBoolean = 1,
  kDuckTinyint = 2,
  kDuckSmallint = 3,
  kDuckInteger = 4,
  kDuckBigint = 5,
  kDuckUtinyint = 6,
  kDuckUsmallint = 7,
  kDuckUinteger = 8,
  kDuckUbigint = 9,
  kDuckFloat = 10,
  kDuckDouble = 11,
  kDuckTimestamp = 12,
  kDuckDate = 13,
  kDuckTime = 14,
  kDuckInterval = 15,
  kDuckHugeint = 16,
  kDuckVarchar = 17,
  kDuckBlob = 18,
  kDuckDecimal = 19,
  kDuckTimestampS = 20,
  kDuckTimestampMs = 21,
  kDuckTimestampNs = 22,
  kDuckEnum = 23,
  kDuckList = 24,
  kDuckStruct = 25,
  kDuckMap = 26,
  kDuckUuid = 27,
  kDuckTimestampTz = 31,
  kDuckUhugeint = 32,
  kDuckArray = 33,
  kDuckNull = 36,
};
inline constexpr int kDuckQueryResult = 3;  // of result_return_type()

inline constexpr char kDuckVersion[] = "1.5.6";
inline constexpr char kDuckLibrary[] = "libduckdb.so";

struct DuckApi {
#define PENNA_DUCKDB(type, name, parameters) type(*name) parameters = nullptr;
#include "sql/duckdb/api.inc"
#undef PENNA_DUCKDB

  // Never unloaded. The error says what is wrong with that file.
  static Result<DuckApi> load(const std::string& path);
};

}  // namespace penna
