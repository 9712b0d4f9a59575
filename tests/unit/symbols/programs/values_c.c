// SPDX-License-Identifier: MIT
// How C values are passed; read like values.cc.
#include <complex.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FN __attribute__((noinline, weak))

enum color { RED, GREEN = 7, BLUE };
enum { OTHER = -2, SOME = 3 };
typedef enum { A = 1, B = 200 } letters;
struct point { int x; double y; };
typedef struct { int fd; const char* name; bool open; unsigned flags : 4; _Bool last; } file;
struct flexible { long count; char bytes[]; };
struct nothing {};
struct anonymous { struct { short low; }; union { int i; float f; }; char tail; };
struct two_chars { char a, b; };
struct __attribute__((packed, aligned(4))) tight { char a; int b; long c; };
union number { long l; double d; };
struct self { struct self* next; int value; };
typedef int (*callback)(const struct point*, void*);
struct point origin = {4, 4.5};
file opened = {3, "name", true, 5, true};
struct self ring = {&ring, 6};

// c_enums: a=7 b=-2 c=200 d=18446744073709551615 return=8
FN enum color c_enums(enum color a, int b, letters c, size_t d) { return BLUE; }
// c_bool: a=1 b=z c=200 return=1
FN bool c_bool(_Bool a, char b, uint8_t c) { return true; }
// c_file: f=&opened f.fd=3 f.name='name' f.open=1 f.last=1 n=4 return=&opened return.fd=3 return.name='name' return.open=1 return.last=1
FN file* c_file(const file* restrict f, int n) { return &opened; }
// c_by_value: f.fd=3 f.name='name' f.open=1 f.last=1 n=4
FN void c_by_value(file f, int n) {}
// c_ring: s=&ring s.next=&ring s.value=6
FN void c_ring(struct self* s) {}
// c_callback: call=&c_compare data=0x10 p=&origin p.x=4 p.y=4.5
FN void c_callback(callback call, void* data, struct point* p) {}
// c_flexible: f.count=2 n=3
FN void c_flexible(struct flexible f, int n) {}
// c_nothing: a=1 b=2
FN void c_nothing(int a, struct nothing e, int b) {}
// c_anonymous: a.low=1 a.tail=t n=3
FN void c_anonymous(struct anonymous a, int n) {}
// c_chars: p.a=a p.b=b return.a=c return.b=d
FN struct two_chars c_chars(struct two_chars p) { return (struct two_chars){'c', 'd'}; }
// c_tight: p.a=a p.b=1 p.c=2 n=3
FN void c_tight(struct tight p, int n) {}
// c_union: n=3 d=1.5
FN union number c_union(union number u, int n, double d) { return u; }
// c_complex: z.real=1 z.imag=2 n=3 return.real=4 return.imag=5
FN double complex c_complex(double complex z, int n) { return 4 + 5 * I; }
// c_wide: n=3 w=1.5 m=4
FN long double c_wide(int n, long double w, int m) { return w; }
// c_array: n=3 a=0x20
FN void c_array(int n, int a[n]) {}
// c_old: f=1.5 c=-3 s=4 d=2.5 return=9
FN int c_old(f, c, s, d) float f; signed char c; short s; double d; { return 9; }
// c_variadic: format='x' n=2
FN void c_variadic(const char* format, int n, ...) {}
// c_many: a=1 b=2 c=3 d=4 e=5 f=6 g=7 h=8 i=9 j=10 k=11 l=12
FN void c_many(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j, int k, int l, int m) {}
// c_compare: p=&origin p.x=4 p.y=4.5 data=0x30 return=-1
FN int c_compare(const struct point* p, void* data) { return -1; }

void corpus(void) {
  c_enums(GREEN, OTHER, B, SIZE_MAX);
  c_bool(1, 'z', 200);
  c_file(&opened, 4);
  c_by_value(opened, 4);
  c_ring(&ring);
  c_callback(c_compare, (void*)0x10, &origin);
  struct flexible flexible = {2};
  c_flexible(flexible, 3);
  c_nothing(1, (struct nothing){}, 2);
  c_anonymous((struct anonymous){{1}, {2}, 't'}, 3);
  c_chars((struct two_chars){'a', 'b'});
  c_tight((struct tight){'a', 1, 2}, 3);
  c_union((union number){.d = 1}, 3, 1.5);
  c_complex(1 + 2 * I, 3);
  c_wide(3, 1.5L, 4);
  c_array(3, (int*)0x20);
  c_old(1.5f, -3, 4, 2.5);
  c_variadic("x", 2, 3, 4.5);
  c_many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13);
  c_compare(&origin, (void*)0x30);
}
