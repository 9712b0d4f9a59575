/* SPDX-License-Identifier: MIT
 * The one file with the implementation of Penna's part of the image; compiled for general registers only. */
#define PENNA_FIRMWARE_IMPLEMENTATION
#include "penna/firmware.h"
