// SPDX-License-Identifier: MIT
// A dialog before the page: find, and the list of keys.
//
// Why the browser's own: it keeps the focus inside, and gives it back to where it was.
// Invariant: Esc, as every other way out, goes through `close`.
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

export function Dialog({ label, close, children }: { label: string; close: () => void; children: ComponentChildren }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const one = dialog.current!;
    one.showModal();
    return () => one.close();
  }, []);
  const cancel = (event: Event): void => {
    event.preventDefault();
    close();
  };
  return (
    <dialog ref={dialog} class="dialog" aria-label={label} onCancel={cancel}>
      {children}
    </dialog>
  );
}
