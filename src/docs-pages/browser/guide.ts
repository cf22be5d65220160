import "./style.css";
import { addCopyButtons } from "./copy-buttons.ts";
import { offerOwnKey } from "./own-key.ts";
import { startSearch } from "./search.ts";

addCopyButtons();
skipNarrow();
startSearch();
// Without it the examples are as they were.
void offerOwnKey().catch(() => undefined);

/**
 * Takes what does not have to be scrolled sideways, as its width is now, out of the order of the Tab
 * key. Without scripts every table and block of code is in there, since any of them may be too wide.
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
