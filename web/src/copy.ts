// SPDX-License-Identifier: MIT
// Puts text on the clipboard.
//
// Why: the modern way needs a secure context and a permission; from a file there may be neither.
// Invariant: says whether it worked.

export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

function copyBySelection(text: string): boolean {
  const area = document.createElement('textarea');
  area.value = text;
  document.body.append(area);
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  return done;
}
