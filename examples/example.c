// SPDX-License-Identifier: MIT
#include <stdlib.h>
char* kept;
int main(void) { kept = malloc(64); }
