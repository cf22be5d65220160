/** What takes the focus by Tab. */
const FOCUSABLE =
  "a[href], button:enabled, input:enabled, select:enabled, textarea:enabled, summary, [tabindex='0']";

interface Held {
  readonly element: Element;
  /** What took the focus by Tab before it. */
  readonly before: ReadonlySet<Element>;
  readonly isInMain: boolean;
}

/**
 * Keeps the focus about where it is when what has it goes away, such as a button that has done its work: it goes
 * to what stands in its place, else to what stood before, but not from the page's content to the frame around it.
 * Browsers give it to the document, so that screen readers begin anew. Returns an unsubscribe function.
 */
export function keepFocus(): () => void {
  // Behind a dialog, the page keeps its own.
  const held = new WeakMap<Element, Held>();
  const note = ({ target }: FocusEvent) => {
    if (!(target instanceof Element)) return;
    const { DOCUMENT_POSITION_PRECEDING } = Node;
    // By position: what has no place in the order of Tab can have the focus too, such as a table.
    const before = [...document.querySelectorAll(FOCUSABLE)].filter(
      (it) => target.compareDocumentPosition(it) & DOCUMENT_POSITION_PRECEDING,
    );
    const isInMain = target.closest("main") !== null;
    held.set(scopeOf(target), { element: target, before: new Set(before), isInMain });
  };
  const forget = ({ target, relatedTarget }: FocusEvent) => {
    if (relatedTarget !== null || !(target instanceof Element)) return;
    // A click beside it, rather than its end.
    queueMicrotask(() => {
      if (isShown(target) && document.activeElement === document.body) held.delete(scopeOf(target));
    });
  };
  const restore = () => {
    if (document.activeElement !== document.body) return;
    const scope = uppermost();
    const last = held.get(scope);
    if (last !== undefined) successorOf(last, scope)?.focus({ preventScroll: true });
  };
  const observer = new MutationObserver(restore);
  observer.observe(document.body, { childList: true, subtree: true });
  document.addEventListener("focusin", note);
  document.addEventListener("focusout", forget);
  return () => {
    observer.disconnect();
    document.removeEventListener("focusin", note);
    document.removeEventListener("focusout", forget);
  };
}

function uppermost(): Element {
  return [...document.querySelectorAll("dialog[open]")].at(-1) ?? document.body;
}

function scopeOf(element: Element): Element {
  return element.closest("dialog") ?? document.body;
}

function isShown(element: Element): boolean {
  return element.isConnected && element.checkVisibility({ visibilityProperty: true });
}

/** What takes the place of what had the focus: itself, what comes now after what stood before it, or that. */
function successorOf(held: Held, scope: Element): HTMLElement | undefined {
  const { element, before, isInMain } = held;
  if (isShown(element)) return element as HTMLElement;
  const now = [...scope.querySelectorAll<HTMLElement>(FOCUSABLE)].filter(isShown);
  const at = now.findLastIndex((it) => before.has(it));
  const found = element.isConnected ? now[at] : (now[at + 1] ?? now[at]);
  const main = isInMain ? scope.querySelector("main") : null;
  return main === null || main.contains(found ?? null) ? found : main;
}
