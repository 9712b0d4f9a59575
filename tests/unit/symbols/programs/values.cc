// SPDX-License-Identifier: MIT
// How C++ values are passed: above each function its arguments and result ("name: a=1 return=2"), &x being the address
// of an object. "name? ..." is for a function that the compiler may change: what is shown is true, but may be
// incomplete.
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <complex.h>
#include <immintrin.h>

// What may be replaced is not looked into: else clang passes nothing for what a function does not use.
#define OPAQUE __attribute__((noinline, weak))
#define FN extern "C" OPAQUE
#define USE(...) asm volatile("" : : "r"(&__VA_ARGS__) : "memory")
#define LOCAL __attribute__((noinline)) static

using Count = const unsigned;
enum Color { RED, GREEN = 7 };
enum class Level : signed char { kLow = -3, kHigh = 100 };
enum Flags : uint64_t { kBig = 1ull << 63 };
struct Point { int x; double y; };
struct Two { long a, b; };
struct Floats { float a, b, c; };
struct Mixed { float f; int i; double d; };
struct Big { int a; long b; short c; };
struct Wide { long double w; };
struct Small { char a; bool b; short c; };
struct Nested { Small inner; struct { int deep; }; int last; };
struct Base { int base; };
struct Derived : Base { int own; float f; };
struct Empty {};
struct WithEmpty { [[no_unique_address]] Empty e; int i; };
struct Array { int all[3]; int last; };
struct __attribute__((packed)) Packed { char c; int i; };
struct Bits { unsigned a : 3, b : 20; float f; };
struct Long { __int128 wide; };
struct alignas(16) Aligned { long a; };
struct Padded { long first; alignas(16) double second; };
union Either { int i; float f; };
struct HasUnion { Either either; int tail; };
struct Own { int v; Own(int n) : v(n) {} Own(const Own& o) : v(o.v) {} };
struct Dies { int v; ~Dies() {} };
struct DefaultedCopy { int v; DefaultedCopy(int n) : v(n) {} DefaultedCopy(const DefaultedCopy&) = default; };
struct MoveOnly { int v; MoveOnly(int n) : v(n) {} MoveOnly(MoveOnly&&) = default; };
struct OwnInside { Own own; int more; };
struct OwnBase : Own { int extra; OwnBase() : Own(4), extra(5) {} };
struct Virtual { virtual ~Virtual() = default; int v = 6; };
struct Named { std::string name; int id; const char* text; std::string_view view; std::unique_ptr<int> owner; int* raw; int seventh; };
struct Views { std::string_view only; };
struct Opaque;
struct Outer { struct Late; };
struct Outer::Late { int late; };
struct Method { int m; int get(int a, const Point& p) const; static int fixed(int a); virtual void dyn(short s); };
template <class T> struct Box { T inside; };

// Smart pointers to `number` shall not free it.
void operator delete(void*) noexcept {}
void operator delete(void*, size_t) noexcept {}

int number = 42;
Point point{3, 1.5};
Derived derived{{1}, 2, 2.5f};
Method method;
Virtual virtually;
Two pair{1, 2};
const char* word = "word";
extern "C" {
std::string pointed = "pointed";
}
Named named{"field", 1, "txt", "vw", std::unique_ptr<int>(&number), (int*)0x50, 7};

// f_ints: a=-1 b=2 c=-3 d=4 e=-5 f=6 g=-7 h=8 return=-9
FN int f_ints(signed char a, unsigned char b, short c, unsigned short d, int e, Count f, long g, unsigned long long h) { return -9; }
// f_more: a=1 b=2 c=3 d=4 e=5 f=6 g=7 h=x i=1 j=-10 return=1
FN bool f_more(int a, int b, int c, int d, int e, int f, int g, char h, bool i, short j) { return true; }
// f_floats: a=1.5 b=2.5 c=3 d=4.5 e=5 f=6 g=7 h=8 i=9 j=10.25 return=0.5
FN double f_floats(float a, double b, int c, double d, double e, double f, double g, double h, double i, float j) { return 0.5; }
// f_float9: a=1 b=2 c=3 d=4 e=5 f=6 g=7 h=8 i=9 j=10 return=0.25
FN float f_float9(float a, float b, float c, float d, float e, float f, float g, float h, float i, double j) { return 0.25f; }
// f_long_double: a=1 b=2.5 c=3 d=4.25 e=9
FN long double f_long_double(int a, long double b, int c, long double d, double e) { return 1; }
// f_stack: a=1 b=2 c=3 d=4 e=5 f=6 g=7 h=8.5 i=9 j=10.5
FN void f_stack(int a, int b, int c, int d, int e, int f, int g, long double h, int i, long double j) {}
// f_int128: a=1 b=-2 c=3 return=-5
FN __int128 f_int128(int a, __int128 b, int c) { return -5; }
// f_int128_full: a=1 b=2 c=3 d=4 e=5 w=6 f=7 g=8
FN void f_int128_full(int a, int b, int c, int d, int e, __int128 w, int f, int g) {}
// f_int128_stack: a=1 b=2 c=3 d=4 e=5 f=6 g=7 w=8 h=9
FN void f_int128_stack(int a, int b, int c, int d, int e, int f, int g, __int128 w, int h) {}
// f_enums: a=7 b=-3 c=9223372036854775808 return=100
FN Level f_enums(Color a, Level b, Flags c) { return Level::kHigh; }
// f_strings: a='one' b='two' c='three' d='word' return='word'
FN const char* f_strings(char* a, const char* b, const signed char* c, const char*& d) { return word; }
// f_pointers: a=&number b=0x10 c=&f_ints d=42 e=0x0 f=0x20 return=&number
FN int* f_pointers(int* a, void* b, decltype(&f_ints) c, int& d, std::nullptr_t e, Opaque* f) { return &number; }
// f_rvalue: a=42 b=2.5 return=42
FN int& f_rvalue(int&& a, const double& b) { return number; }
// f_reference: p=&point p.x=3 p.y=1.5 return=&point return.x=3 return.y=1.5
FN Point& f_reference(const Point& p) { return point; }
// f_pointer: p=&derived p.base=1 p.own=2 p.f=2.5 n=9
FN void f_pointer(volatile Derived* p, int n) {}
// f_array: a=0x40 n=3
FN void f_array(int a[3], int n) {}
// f_function: f=&f_rvalue
FN void f_function(int& f(int&&, const double&)) {}
// f_point: p.x=1 p.y=2.5 n=3 return.x=4 return.y=5.5
FN Point f_point(Point p, int n) { return {4, 5.5}; }
// f_two: n=1 p.a=2 p.b=3 return.a=4 return.b=5
FN Two f_two(int n, Two p) { return {4, 5}; }
// f_two_full: a=1 b=2 c=3 d=4 e=5 p.a=6 p.b=7 f=8 g=9
FN void f_two_full(int a, int b, int c, int d, int e, Two p, int f, int g) {}
// f_three_floats: p.a=1 p.b=2 p.c=3 d=4 return.a=5 return.b=6 return.c=7
FN Floats f_three_floats(Floats p, float d) { return {5, 6, 7}; }
// f_mixed: p.f=1.5 p.i=2 p.d=3.5 return.f=4.5 return.i=5 return.d=6.5
FN Mixed f_mixed(Mixed p) { return {4.5, 5, 6.5}; }
// f_mixed_full: a=1 b=2 c=3 d=4 e=5 f=6 p.f=1.5 p.i=2 p.d=3.5 g=7.5
FN void f_mixed_full(int a, int b, int c, int d, int e, int f, Mixed p, double g) {}
// f_big: n=1 p.a=2 p.b=3 p.c=4 m=5 return.a=6 return.b=7 return.c=8
FN Big f_big(int n, Big p, int m) { return {6, 7, 8}; }
// f_wide: p.w=1.5 n=2
FN Wide f_wide(Wide p, int n) { return {2}; }
// f_small: p.a=a p.b=1 p.c=-2 return.a=b return.b=0 return.c=3
FN Small f_small(Small p) { return {'b', false, 3}; }
// f_nested: p.deep=4 p.last=5 n=6
FN void f_nested(Nested p, int n) {}
// f_derived: p.base=1 p.own=2 p.f=3.5 n=4 return.base=5 return.own=6 return.f=7.5
FN Derived f_derived(Derived p, int n) { Derived d; d.base = 5; d.own = 6; d.f = 7.5; return d; }
// f_empty: a=1 b=2
FN Empty f_empty(int a, Empty e, int b) { return e; }
// f_with_empty: p.i=1 n=2 return.i=3
FN WithEmpty f_with_empty(WithEmpty p, int n) { return {{}, 3}; }
// f_by_array: p.last=4 n=5
FN void f_by_array(Array p, int n) {}
// f_packed: p.c=c p.i=2 n=3 return.c=d return.i=4
FN Packed f_packed(Packed p, int n) { return {'d', 4}; }
// f_bits: p.f=1.5 n=2
FN void f_bits(Bits p, int n) {}
// f_long: p.wide=1 n=2
FN void f_long(Long p, int n) {}
// f_long_full: a=1 b=2 c=3 d=4 e=5 p.wide=6 f=7 g=8
FN void f_long_full(int a, int b, int c, int d, int e, Long p, int f, int g) {}
// f_aligned: a=1 b=2 c=3 d=4 e=5 p.a=6 f=7 g=8
FN void f_aligned(int a, int b, int c, int d, int e, Aligned p, int f, int g) {}
// f_padded: a=1 p.first=2 p.second=3.5 b=4
FN void f_padded(int a, Padded p, int b) {}
// f_late: p.late=1 n=2
FN void f_late(Outer::Late p, int n) {}
// f_union: a=1 b=2
FN void f_union(int a, Either u, int b) {}
// f_has_union: p.tail=2 n=3
FN void f_has_union(HasUnion p, int n) {}
// f_box: p.inside=1.5 return.inside=2
FN Box<long> f_box(Box<double> p) { return {2}; }
// f_own: a=1 p.v=2 b=3 return.v=4
FN Own f_own(int a, Own p, int b) { USE(p); return Own(4); }
// f_dies: p.v=1 n=2
FN void f_dies(Dies p, int n) {}
// f_defaulted: p.v=1 n=2 return.v=3
FN DefaultedCopy f_defaulted(DefaultedCopy p, int n) { return {3}; }
// f_move_only: p.v=1 n=2 return.v=3
FN MoveOnly f_move_only(MoveOnly p, int n) { return {3}; }
// f_own_inside: p.more=2 n=3
FN void f_own_inside(OwnInside p, int n) {}
// f_own_base: p.v=4 p.extra=5 n=3
FN void f_own_base(OwnBase p, int n) {}
// f_virtual: p.v=6 n=3
FN void f_virtual(Virtual p, int n) {}
// f_string: a='by value' b='by reference' c='moved' d=4 return='given'
FN std::string f_string(std::string a, const std::string& b, std::string&& c, int d) { USE(a); return "given"; }
// f_string_pointer: a=&pointed *a='pointed'
FN void f_string_pointer(const std::string* a) {}
// f_view: n=1 a='viewed' b='again' return='shown'
FN std::string_view f_view(int n, std::string_view a, const std::string_view& b) { return "shown"; }
// f_view_full: a=1 b=2 c=3 d=4 e=5 v='stack' f=6
FN void f_view_full(int a, int b, int c, int d, int e, std::string_view v, int f) {}
// f_views: p.only='inside'
FN void f_views(Views p) {}
// f_named: n=&named n.name='field' n.id=1 n.text='txt' n.view='vw' n.owner=&number n.raw=0x50
FN void f_named(const Named& n) {}
// f_smart: a=&number b=&number c=3 return=&number
FN std::unique_ptr<int> f_smart(std::unique_ptr<int> a, const std::shared_ptr<int>& b, int c) { USE(a); return std::unique_ptr<int>(&number); }
// f_complex: a.real=1 a.imag=2 b.real=3 b.imag=4 n=5 return.real=6 return.imag=7
FN float _Complex f_complex(float _Complex a, double _Complex b, int n) { float _Complex c; __real__ c = 6; __imag__ c = 7; return c; }
// f_complex_double: a=1 return.real=6 return.imag=7
FN double _Complex f_complex_double(int a) { double _Complex c; __real__ c = 6; __imag__ c = 7; return c; }
// f_complex_wide: n=5 d=2.5
FN long double _Complex f_complex_wide(long double _Complex a, int n, double d) { return a; }
// f_vector: a=1 b=2.5 c=3
FN __m128 f_vector(float a, __m128 v, double b, int c) { return v; }
// f_quad: a=1 b=2.5
FN void f_quad(float a, __float128 q, double b) {}
// f_member: b=7
FN void f_member(int (Method::*m)(int, const Point&) const, int b) {}
// f_data_member: m=8 b=7
FN void f_data_member(int Method::*m, int b) {}
// f_variadic: a=1 b='fmt'
FN void f_variadic(int a, const char* b, ...) {}
// f_char16: a=65 b=66 c=67
FN void f_char16(char16_t a, char32_t b, wchar_t c) {}
// _ZNK6Method3getEiRK5Point: this=&method this.m=0 a=5 p=&point p.x=3 p.y=1.5 return=8
OPAQUE int Method::get(int a, const Point& p) const { USE(a); return 8; }
// _ZN6Method5fixedEi: a=6 return=7
OPAQUE int Method::fixed(int a) { USE(a); return 7; }
// _ZN6Method3dynEs: this=&method this.m=0 s=-4
OPAQUE void Method::dyn(short s) { USE(s); }
// local_first? unused=1 used=2 p=&point p.x=3 p.y=1.5 return=5
LOCAL int local_first(int unused, int used, Point* p) { USE(used); return used + p->x; }
// local_unused? a=1 b=2 p.x=9 p.y=8 c=3 return=5
LOCAL int local_unused(int a, int b, Point p, int c) { USE(b); return b + c; }
// local_constant? c=3 used=4 f=1.5 return=12
LOCAL int local_constant(int c, int used, float f) { USE(used); USE(f); return used * c; }
// local_no_result? a=11 b=12 return=132
LOCAL int local_no_result(int a, int b) { USE(a); USE(b); return a * b; }
// local_string? a='local' b=2
LOCAL void local_string(std::string a, int b) { USE(a); USE(b); }
// local_promoted? p=&pair p.a=1 p.b=2 n=3 return=5
LOCAL long local_promoted(const Two* p, int n) { USE(n); return p->b + n; }

extern "C" void corpus() {
  int zero = 0;
  asm volatile("" : "+r"(zero));
  static char one[] = "one";
  signed char three[] = "three";
  f_ints(-1, 2, -3, 4, -5, 6, -7, 8);
  f_more(1, 2, 3, 4, 5, 6, 7, 'x', true, -10);
  f_floats(1.5, 2.5, 3, 4.5, 5, 6, 7, 8, 9, 10.25);
  f_float9(1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
  f_long_double(1, 2.5, 3, 4.25, 9);
  f_stack(1, 2, 3, 4, 5, 6, 7, 8.5, 9, 10.5);
  f_int128(1, -2, 3);
  f_int128_full(1, 2, 3, 4, 5, 6, 7, 8);
  f_int128_stack(1, 2, 3, 4, 5, 6, 7, 8, 9);
  f_enums(GREEN, Level::kLow, kBig);
  f_strings(one, "two", three, word);
  f_pointers(&number, (void*)0x10, f_ints, number, nullptr, (Opaque*)0x20);
  f_rvalue(std::move(number), 2.5);
  f_reference(point);
  f_pointer(&derived, 9);
  f_array((int*)0x40, 3);
  f_function(f_rvalue);
  f_point({1, 2.5}, 3);
  f_two(1, {2, 3});
  f_two_full(1, 2, 3, 4, 5, {6, 7}, 8, 9);
  f_three_floats({1, 2, 3}, 4);
  f_mixed({1.5, 2, 3.5});
  f_mixed_full(1, 2, 3, 4, 5, 6, {1.5, 2, 3.5}, 7.5);
  f_big(1, {2, 3, 4}, 5);
  f_wide({1.5}, 2);
  f_small({'a', true, -2});
  f_nested({{'a', true, 3}, {4}, 5}, 6);
  Derived d;
  d.base = 1, d.own = 2, d.f = 3.5;
  f_derived(d, 4);
  f_empty(1, {}, 2);
  f_with_empty({{}, 1}, 2);
  f_by_array({{1, 2, 3}, 4}, 5);
  f_packed({'c', 2}, 3);
  f_bits({1, 2, 1.5}, 2);
  f_long({1}, 2);
  f_long_full(1, 2, 3, 4, 5, {6}, 7, 8);
  f_aligned(1, 2, 3, 4, 5, {6}, 7, 8);
  f_padded(1, {2, 3.5}, 4);
  f_late({1}, 2);
  f_union(1, {1}, 2);
  f_has_union({{1}, 2}, 3);
  f_box({1.5});
  f_own(1, Own(2), 3);
  f_dies({1}, 2);
  f_defaulted(DefaultedCopy(1), 2);
  f_move_only(MoveOnly(1), 2);
  f_own_inside({Own(1), 2}, 3);
  f_own_base({}, 3);
  f_virtual(virtually, 3);
  f_string("by value", "by reference", "moved", 4);
  f_string_pointer(&pointed);
  f_view(1, "viewed", "again");
  f_view_full(1, 2, 3, 4, 5, "stack", 6);
  f_views({"inside"});
  f_named(named);
  std::unique_ptr<int> owner(&number);
  std::shared_ptr<int> shared(std::shared_ptr<int>(), &number);
  std::unique_ptr<int> back = f_smart(std::move(owner), shared, 3);
  back.release();
  float _Complex c;
  double _Complex z;
  long double _Complex w;
  __real__ c = 1, __imag__ c = 2, __real__ z = 3, __imag__ z = 4, __real__ w = 5, __imag__ w = 6;
  f_complex(c, z, 5);
  f_complex_double(1);
  f_complex_wide(w, 5, 2.5);
  f_vector(1, _mm_set1_ps(9), 2.5, 3);
  f_quad(1, 9, 2.5);
  f_member(&Method::get, 7);
  f_data_member(&Method::m, 7);
  f_variadic(1, "fmt", 2, 3.5);
  f_char16(u'A', U'B', L'C');
  method.get(5, point);
  Method::fixed(6);
  method.dyn(-4);
  local_first(1 + zero, 2 + zero, &point);
  local_unused(1 + zero, 2 + zero, {9, 8}, 3 + zero);
  local_constant(3, 4 + zero, 1.5f);
  local_constant(3, 4 + zero, 1.5f);
  local_no_result(11 + zero, 12 + zero);
  local_string("local", 2 + zero);
  local_promoted(&pair, 3 + zero);
}
