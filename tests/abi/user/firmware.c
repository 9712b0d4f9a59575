/* SPDX-License-Identifier: MIT
 * firmware.h, in a file of its own, as it asks. Also compiled as C++. */
#define PENNA_POINT_BY_VALUES 1
#define PENNA_FIRMWARE_IMPLEMENTATION
#include "penna/firmware.h"
#include "penna/point.h"

PENNA_RING_DEFINE(ring, 8, 128);

static uint32_t thread(void) { return 1; }

int main(void) {
  uint64_t unit[PENNA_MAX_UNIT_WORDS];
  const uint32_t sites = penna_firmware_start(ring, thread);
  PENNA_EVENT(firmware, passed, sites, "text");
  return penna_firmware_switch("*", 1) != 0 && penna_firmware_site(unit, 1) != 0;
}
