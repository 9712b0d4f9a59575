#!/bin/bash
# SPDX-License-Identifier: MIT
# record -A, -R, --auto-args: arguments and return values, of every type, in every kind of call tracing; invalid
# pointers are marked; the program's behaviour is unchanged.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cat >app.cc <<'PROGRAM'
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>

enum class Color { kRed, kGreen = 5 };
enum Access { kRead = 1, kWrite = 2, kExecute = 4 };
struct Shape {
  Color color;
  double radius;
  const char* name;
  const Shape* next;
};
struct Point {
  int x, y;
};
struct Large {
  long a, b, c;
};
#ifdef __clang__
#define KEEP __attribute__((noinline, optnone))
#else
#define KEEP __attribute__((noipa))
#endif
KEEP double area(const Shape* shape, float scale) { return shape != nullptr ? shape->radius * scale : -1; }
KEEP Point mirror(Point at, bool deep, char axis) { return {at.y, at.x + (deep ? 1 : 0) + (axis == 'z' ? 0 : 1)}; }
KEEP std::string join(const std::string& a, std::string_view b, std::string c) { return a + std::string(b) + c; }
KEEP Large grow(Large from, long double by, unsigned char times, Access access) {
  from.a += static_cast<long>(by) * times + access;
  return from;
}
KEEP int many(int a, int b, int c, int d, int e, int f, short g, long h) {
  return a + b + c + d + e + f + g + static_cast<int>(h);
}
KEEP int look(const char* text, int (*at)(int)) { return text != nullptr && at != nullptr ? 1 : 0; }
KEEP int step(int n) { return n; }
KEEP int fails(int n) {
  if (n == 3) throw std::runtime_error("three");
  return n;
}
KEEP int tail(int n) { return step(n + 1); }

int main() {
  const Shape inner{Color::kRed, 1, "inner", nullptr};
  const Shape outer{Color::kGreen, 2.5, "outer \"one\"", &inner};
  const double areas = area(&outer, 2) + area(nullptr, 1);
  const Point at = mirror({1, 2}, true, 'z');
  const std::string text = join("short", "seen", "a text that does not fit into its place");
  const Large large = grow({1, 2, 3}, 4.5L, 7, static_cast<Access>(kRead | kExecute));
  const int sum = many(1, 2, 3, 4, 5, 6, -7, 8);
  const int looks = look("plain", step) + look(reinterpret_cast<const char*>(0x10), nullptr) + look(nullptr, nullptr);
  try {
    fails(3);
  } catch (const std::exception& e) {
    std::puts(e.what());
  }
  std::printf("%g %d %s %ld %d %d %d\n", areas, at.x, text.c_str(), large.a, sum, looks, tail(6));
}
PROGRAM

cat >expected <<'CALLS'
area(shape=ADDRESS{color=kGreen, radius=2.5, name="outer \"one\"", next=ADDRESS}, scale=2) = 5;
area(shape=0x0, scale=1) = -1;
mirror(at={x=1, y=2}, deep=true, axis='z') = {x=2, y=2};
join(a="short", b="seen", c="a text that does not fit into its place") = "shortseena text that does not fit into its place";
grow(from={a=1, b=2, c=3}, by=4.5, times=7, access=kRead|kExecute) = {a=34, b=2, c=3};
many(a=1, b=2, c=3, d=4, e=5, f=6, g=-7, h=8) = 22;
look(text="plain", at=step(int)) = 1;
look(text=<bad 0x10>, at=0x0) = 0;
look(text=NULL, at=0x0) = 0;
fails(n=3);
CALLS

# calls: those of our functions, without addresses, which differ from run to run.
calls() { penna replay app.penna | grep -oE '\b(area|mirror|join|grow|many|look|fails)\(.*' | sed -E 's/0x[0-9a-f]{6,}/ADDRESS/g'; }
# compare COMPILER FLAGS...: the complete list, in every kind of call tracing.
compare() {
  local function each=() plain
  "$1" -g -std=c++17 "${@:2}" app.cc -o app
  plain=$(./app)
  for function in area mirror join grow many look fails tail step; do each+=(-F "$function(*" -A "$function(*" -R "$function(*"); done
  run penna record -f -o app.penna -k calls "${each[@]}" ./app
  expect_eq "$plain" "$out" "what the program prints, $*"
  expect_eq "" "$(calls | diff - expected || true)" "calls, $*"
  # Hooked by a jump, by a call, or too short to be hooked.
  case $* in *-pg* | *patchable* | *xray*) expect_match "$(penna replay app.penna)" 'step\(n=7\) = 7;' ;; esac
}
compare g++ -O2
compare g++ -O0
compare g++ -O2 -pg
compare g++ -O2 -pg -mfentry
compare g++ -O2 -fpatchable-function-entry=5
compare clang++ -O2 -fxray-instrument -fxray-instruction-threshold=1
compare clang++ -O0 -gdwarf-4 -pg

# By register, and in the merged view, where entry and exit have lines of their own.
g++ -g -std=c++17 -O2 -pg -mfentry app.cc -o app
run penna record -f -o app.penna -k calls -A 'area@arg1/x,fparg1/f32' -A 'many@arg1,arg7/i16,arg8/x' -R 'area@retval/f' ./app
expect_match "$(penna replay app.penna)" ' area\(arg1=0x[0-9a-f]+, fparg1=2\) = 5;'
expect_match "$(penna replay app.penna)" ' many\(arg1=1, arg7=-7, arg8=0x8\);'
expect_match "$(penna replay --merge app.penna)" ' area\(arg1=0x0, fparg1=1\) \{'
expect_match "$(penna replay --merge app.penna)" '\} = -1 /\* area\(Shape const\*, float\) \*/'
expect_match "$(penna export chrome -o - app.penna)" '"args":\{"arg1":"0x0","fparg1":1,"return":-1\}'
expect_match "$(penna export csv -o - app.penna)" ',exit,.*,arg1=0x0;fparg1=1;return=-1'

# Everything that types describe; values without a type are omitted.
run penna record -f -o app.penna -k calls --auto-args ./app
expect_match "$(penna replay app.penna)" ' mirror\(at=\{x=1, y=2\}, deep=true, axis=.z.\) = \{x=2, y=2\};'

# A filter excludes a call with its values; with the same filter when reading, nothing changes.
run penna record -f -o kept.penna -k calls --auto-args --depth 2 -N 'many' ./app
expect_missing "$(penna replay kept.penna)" 'many('
expect_missing "$(penna replay kept.penna)" 'point call:'
expect_eq "$(penna replay kept.penna)" "$(penna replay --depth 2 kept.penna)" "the same filter again"
run penna record -f -o long.penna -k calls --auto-args --min-time 100s ./app
expect_missing "$(penna replay long.penna)" 'point call:'

# Library calls, by register: as in ltrace.
run penna record -f -o ls.penna -k calls --libcalls -A 'opendir@arg1/s' -R 'opendir@retval/x' -A 'strcmp@arg1/s,arg2/s' ls /usr
expect_match "$(penna replay ls.penna)" ' opendir\(arg1="/usr"\) = 0x[0-9a-f]+;'

# Invalid and impossible requests are reported.
run penna record -f -o app.penna -k calls -A 'area@arg1/z' ./app
expect_eq 125 "$status"
expect_contains "$err" "format"
run penna record -f -o app.penna -k alloc -A area ./app
expect_contains "$err" "add calls to -k"
g++ -std=c++17 -O2 -pg -mfentry app.cc -o app
run penna record -f -o app.penna -k calls -A 'area(*' ./app
expect_contains "$err" "values of area(Shape const*, float) [app] are not recorded: its module has no debug information"
