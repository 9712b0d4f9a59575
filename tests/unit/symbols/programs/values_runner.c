// SPDX-License-Identifier: MIT
// Linked to values.cc and values_c.c, which are built with -pg -mfentry: reads the registers at the first instruction
// of each function and after its return, evaluates the penna_values of a plan by hand, and prints the results.
//
// Why: only the compiler knows whether a classification is right. Invariant: the corpus runs as without us.
// Plan, one line per value: A|R ADDRESS NAME PLACE NUMBER TYPE TEXT BYTES BEHIND OFFSET
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct registers {
  uint64_t integers[6];  // of results: rax, rdx
  struct {
    uint64_t words[2];
  } vectors[8];
  uint64_t* stack;  // what is above the return address
};
struct value {
  char when, name[200];
  uint64_t address;
  unsigned place, number, type, text, bytes, behind, offset;
};
static struct value values[4096];
static size_t value_count;
static struct {
  uint64_t function, back;
} frames[64];
static size_t depth;

// Entered by `call __fentry__`, so that what is above its own return address is the function's.
__asm__(
    ".text\n.globl __fentry__\n__fentry__:\n"
    "  pushq %rax\n  pushq %rbx\n  pushq %r10\n  pushq %r11\n  movq %rsp, %rbx\n"
    "  subq $192, %rsp\n  andq $-16, %rsp\n"
    "  movq %rdi, 0(%rsp)\n  movq %rsi, 8(%rsp)\n  movq %rdx, 16(%rsp)\n  movq %rcx, 24(%rsp)\n"
    "  movq %r8, 32(%rsp)\n  movq %r9, 40(%rsp)\n"
    "  movups %xmm0, 48(%rsp)\n  movups %xmm1, 64(%rsp)\n  movups %xmm2, 80(%rsp)\n  movups %xmm3, 96(%rsp)\n"
    "  movups %xmm4, 112(%rsp)\n  movups %xmm5, 128(%rsp)\n  movups %xmm6, 144(%rsp)\n  movups %xmm7, 160(%rsp)\n"
    "  leaq 48(%rbx), %rax\n  movq %rax, 176(%rsp)\n"
    "  movq %rsp, %rdi\n  movq 32(%rbx), %rsi\n  leaq 40(%rbx), %rdx\n  call on_entry\n"
    "  movq 0(%rsp), %rdi\n  movq 8(%rsp), %rsi\n  movq 16(%rsp), %rdx\n  movq 24(%rsp), %rcx\n"
    "  movq 32(%rsp), %r8\n  movq 40(%rsp), %r9\n"
    "  movups 48(%rsp), %xmm0\n  movups 64(%rsp), %xmm1\n  movups 80(%rsp), %xmm2\n  movups 96(%rsp), %xmm3\n"
    "  movups 112(%rsp), %xmm4\n  movups 128(%rsp), %xmm5\n  movups 144(%rsp), %xmm6\n  movups 160(%rsp), %xmm7\n"
    "  movq %rbx, %rsp\n  popq %r11\n  popq %r10\n  popq %rbx\n  popq %rax\n  ret\n"
    "value_return:\n"
    "  pushq %rax\n  pushq %rbx\n  movq %rsp, %rbx\n  subq $192, %rsp\n  andq $-16, %rsp\n"
    "  movq %rax, 0(%rsp)\n  movq %rdx, 8(%rsp)\n  movups %xmm0, 48(%rsp)\n  movups %xmm1, 64(%rsp)\n"
    "  movq %rsp, %rdi\n  fxsave saved_x87(%rip)\n  call on_return\n  fxrstor saved_x87(%rip)\n  movq %rax, %rcx\n"
    "  movq 8(%rsp), %rdx\n  movups 48(%rsp), %xmm0\n  movups 64(%rsp), %xmm1\n"
    "  movq %rbx, %rsp\n  popq %rbx\n  popq %rax\n  jmpq *%rcx\n"
    ".bss\n.balign 16\nsaved_x87: .zero 512\n.text\n");
void value_return(void);

static int text_of(uint64_t address, uint64_t length, char* to) {
  return sprintf(to, "'%.*s'", (int)(length > 200 ? 200 : length), (const char*)address);
}

static void print_value(const struct value* value, struct registers* registers) {
  uint64_t* word = value->place == 1   ? &registers->integers[value->number]
                   : value->place == 2 ? registers->vectors[value->number].words
                                       : &registers->stack[value->number];
  const char* at = (value->behind ? (const char*)*word : (const char*)word) + value->offset;
  char text[256];
  int64_t number = 0;
  uint64_t words[2];
  switch (value->type) {
    case 3:
      if (value->bytes == 4) sprintf(text, "%g", (double)*(const float*)at);
      if (value->bytes == 8) sprintf(text, "%g", *(const double*)at);
      if (value->bytes == 10) {
        long double wide = 0;
        memcpy(&wide, at, 10);
        sprintf(text, "%Lg", wide);
      }
      break;
    case 5:
      memcpy(words, at, value->text == 1 ? 8 : 16);
      if (value->text == 1) text_of(words[0], strlen((const char*)words[0]), text);
      if (value->text == 2) text_of(words[0], words[1], text);
      if (value->text == 3) text_of(words[1], words[0], text);
      break;
    default:
      memcpy(&number, at, value->bytes);
      if (value->type == 1) number = (int64_t)((uint64_t)number << (64 - 8 * value->bytes)) >> (64 - 8 * value->bytes);
      if (value->type == 7) sprintf(text, "%c", (char)number);
      else sprintf(text, value->type == 1 ? "%ld" : value->type == 4 ? "%#lx" : "%lu", number);
  }
  printf(" %s=%s", value->name, text);
}

static void print_all(char when, uint64_t function, struct registers* registers) {
  printf("%c %lx", when, function);
  for (size_t i = 0; i < value_count; ++i) {
    if (values[i].when == when && values[i].address == function) print_value(&values[i], registers);
  }
  printf("\n");
}

void on_entry(struct registers* registers, uint64_t back, uint64_t* return_address) {
  uint64_t function = 0;
  // A call of 5 bytes, perhaps behind an endbr64 of 4; with its return a function has 6.
  for (size_t i = 0; i < value_count; ++i) {
    if (back - values[i].address == 5 || back - values[i].address == 9) function = values[i].address;
  }
  if (function == 0) return;
  print_all('A', function, registers);
  frames[depth].function = function;
  frames[depth++].back = *return_address;
  *return_address = (uint64_t)&value_return;
}

uint64_t on_return(struct registers* registers) {
  print_all('R', frames[--depth].function, registers);
  return frames[depth].back;
}

void corpus(void);
int main(int count, char** words) {
  FILE* plan = count > 1 ? fopen(words[1], "r") : NULL;
  if (plan == NULL) return 2;
  setvbuf(stdout, NULL, _IONBF, 0);  // a crash shall show where
  struct value* value = values;
  while (fscanf(plan, " %c %lx %199s %u %u %u %u %u %u %u", &value->when, &value->address, value->name, &value->place,
                &value->number, &value->type, &value->text, &value->bytes, &value->behind, &value->offset) == 10)
    ++value, ++value_count;
  corpus();
  return depth != 0;
}
