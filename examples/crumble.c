// SPDX-License-Identifier: MIT
// The example of etrace: 17 calls, some of which follow each other.
#define F(name) __attribute__((noipa)) static void name(void)
F(Crumble_buy) {}
F(Crumble_buy_stuff) {
  for (int i = 0; i < 5; i++) Crumble_buy();
}
F(Crumble_skin_and_dice) {}
F(Crumble_prepare_apples) { Crumble_skin_and_dice(); }
F(Crumble_mix) {}
F(Crumble_put) {}
F(Crumble_finalize) {
  Crumble_put();
  Crumble_put();
}
F(Crumble_bake) {}
F(Crumble_cook) {
  Crumble_put();
  Crumble_bake();
}
F(Crumble_make_apple_crumble) {
  Crumble_buy_stuff();
  Crumble_prepare_apples();
  Crumble_mix();
  Crumble_finalize();
  Crumble_cook();
}
int main(void) { Crumble_make_apple_crumble(); }
