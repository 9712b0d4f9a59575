/* SPDX-License-Identifier: MIT
 * Runs the shared library made of points.c or points.cc with -DLIBRARY. */
void run_all(int flag);
int main(int argc, char** argv) {
  (void)argv;
  run_all(argc);
  return 0;
}
