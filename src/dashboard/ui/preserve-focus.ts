/** Selector for elements in the tab order. */
const FOCUSABLE = "a[href], button:enabled, input:enabled, select:enabled, textarea:enabled, summary, [tabindex='0']";

interface FocusPosition {
  readonly element: Element;
  /** Elements that precede it in the tab order. */
  readonly before: ReadonlySet<Element>;
  readonly isInMain: boolean;
}

/**
 * Preserves the focus position when the focused element is removed, such as a used button. The focus moves to the
 * next element in the tab order, otherwise to the previous one, but never from the page's content to the surrounding
 * frame. By default, browsers focus the document, and screen readers start over. Lasts as long as the page.
 */
export function preserveFocus(): void {
  // Last focused element of the page and of each dialog. A dialog has its own tab order.
  const positions = new WeakMap<Element, FocusPosition>();
  const note = ({ target }: FocusEvent) => {
    if (!(target instanceof Element)) return;
    // Compare positions, because the focused element, such as a table, may be outside the tab order.
    const before = [...document.querySelectorAll(FOCUSABLE)].filter(
      (it) => target.compareDocumentPosition(it) & Node.DOCUMENT_POSITION_PRECEDING,
    );
    const isInMain = target.closest("main") !== null;
    positions.set(scopeOf(target), { element: target, before: new Set(before), isInMain });
  };
  const forget = ({ target, relatedTarget }: FocusEvent) => {
    if (relatedTarget !== null || !(target instanceof Element)) return;
    // If the element is still shown, a click elsewhere took the focus. There is nothing to restore.
    queueMicrotask(() => {
      if (isShown(target) && document.activeElement === document.body) positions.delete(scopeOf(target));
    });
  };
  let isMoving = false;
  // While the focus moves between elements, the document has the focus, and event handlers may change the page.
  const move = ({ relatedTarget }: FocusEvent) => {
    isMoving = relatedTarget !== null;
    setTimeout(() => {
      isMoving = false;
      restore();
    });
  };
  const restore = () => {
    if (isMoving || document.activeElement !== document.body) return;
    const scope = uppermost();
    const last = positions.get(scope);
    if (last !== undefined) successorOf(last, scope)?.focus({ preventScroll: true });
  };
  new MutationObserver(restore).observe(document.body, { childList: true, subtree: true });
  document.addEventListener("blur", move, true);
  document.addEventListener("focusin", note);
  document.addEventListener("focusout", forget);
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

/** Returns the element to focus: the same one if shown, otherwise the next one, otherwise the previous one. */
function successorOf(position: FocusPosition, scope: Element): HTMLElement | undefined {
  const { element, before, isInMain } = position;
  if (isShown(element)) return element as HTMLElement;
  const now = [...scope.querySelectorAll<HTMLElement>(FOCUSABLE)].filter(isShown);
  const at = now.findLastIndex((it) => before.has(it));
  const found = element.isConnected ? now[at] : (now[at + 1] ?? now[at]);
  const main = isInMain ? scope.querySelector("main") : null;
  return main === null || main.contains(found ?? null) ? found : main;
}
