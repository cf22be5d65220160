import "./style.css";
import { addCopyButtons } from "./copy-buttons.ts";
import { offerOwnKey } from "./own-key.ts";
import { startSearch } from "./search.ts";

addCopyButtons();
skipNarrow();
startSearch();
// If this fails, the examples stay unchanged.
void offerOwnKey().catch(() => undefined);

/**
 * Removes elements that currently need no horizontal scrolling from the tab order. Without scripts, all
 * tables and code blocks stay in the tab order.
 */
function skipNarrow(): void {
  const observer = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      if (!(target instanceof HTMLElement)) continue;
      target.tabIndex = target.scrollWidth > target.clientWidth ? 0 : -1;
    }
  });
  for (const block of document.querySelectorAll(".wide, .code pre")) observer.observe(block);
}
