/* SPDX-License-Identifier: MIT
 *
 * language.h: the oldest C and C++ in which Penna's headers compile, reported in one sentence instead of pages of
 * errors.
 * Invariant: every public header except version.h includes this before anything that needs them; ring.h, which stands
 * alone, has a copy.
 */
#ifndef PENNA_DETAIL_LANGUAGE_H
#define PENNA_DETAIL_LANGUAGE_H

/* Including a file that does not exist stops the compiler: #error alone does not. */
#if defined(__cplusplus) && __cplusplus < 201703L
#error "Penna needs C++17 or newer: compile with -std=c++17"
#define PENNA_STOP "stop: Penna needs C++17 or newer"
#include PENNA_STOP
#elif !defined(__cplusplus) && (!defined(__STDC_VERSION__) || __STDC_VERSION__ < 201112L)
#error "Penna needs C11 or newer: compile with -std=c11"
#define PENNA_STOP "stop: Penna needs C11 or newer"
#include PENNA_STOP
#endif

/* For code shared by C and C++: no -Wold-style-cast warnings for its C casts. */
#ifdef __cplusplus
#define PENNA_C_CODE_BEGIN _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wold-style-cast\"")
#define PENNA_C_CODE_END _Pragma("GCC diagnostic pop")
#else
#define PENNA_C_CODE_BEGIN
#define PENNA_C_CODE_END
#endif

/* In macros, which become the user's code: a cast between numbers, and one between pointers. */
#ifdef __cplusplus
#define PENNA_CAST(type, value) (static_cast<type>(value))
#define PENNA_POINTER_CAST(type, value) (reinterpret_cast<type>(value))
#else
#define PENNA_CAST(type, value) ((type)(value))
#define PENNA_POINTER_CAST(type, value) ((type)(value))
#endif

#ifndef PENNA_STATIC_ASSERT
#ifdef __cplusplus
#define PENNA_STATIC_ASSERT(condition, text) static_assert(condition, text)
#else
#define PENNA_STATIC_ASSERT(condition, text) _Static_assert(condition, text)
#endif
#endif

#endif
