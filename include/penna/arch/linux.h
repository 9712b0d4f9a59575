/* SPDX-License-Identifier: MIT
 *
 * arch/linux.h: picks what a processor's Linux needs for switching sites in a running program. A file defines
 * PENNA_ARCH_HAS_LINUX, the numbers PENNA_SYS_*, and
 *   penna_arch_syscall(number, a .. f)      raw: a result in [-4095, -1] is a negated errno
 *   PENNA_ARCH_HAS_MEMORY_FILE              1: code may be written through /proc/self/mem
 */
#ifndef PENNA_ARCH_LINUX_H
#define PENNA_ARCH_LINUX_H

#if !defined(__linux__)
/* not here */
#elif defined(__x86_64__) && defined(__LP64__)
#include "penna/arch/x86_64_linux.h"
#elif defined(__aarch64__) && defined(__LP64__)
#include "penna/arch/aarch64_linux.h"
#elif defined(__i386__)
#include "penna/arch/i386_linux.h"
#endif

#endif
