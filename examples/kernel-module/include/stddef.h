/* SPDX-License-Identifier: MIT
 * Like stdint.h. */
#include <linux/stddef.h>
#include <linux/types.h>
