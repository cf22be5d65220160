import type { Find, SearchHit } from "./find.ts";

/** A part of an excerpt, which may be highlighted. */
interface Piece {
  readonly text: string;
  readonly isMatch: boolean;
}

/** Number of characters of an excerpt before the first match, and in total. */
const BEFORE = 50;
const LENGTH = 170;

/** Elements of the search: a combobox and a list of results. */
interface SearchParts {
  readonly root: HTMLElement;
  readonly input: HTMLInputElement;
  readonly results: HTMLElement;
  readonly status: HTMLElement;
}

/**
 * Starts the search. `/` focuses the search unless a field has the focus. Arrow keys select a result,
 * Enter opens it, and Escape closes the list. The index is loaded when the search first gets the focus.
 */
export function startSearch(): void {
  const parts = findParts();
  if (parts === undefined) return;
  const { root, input, results } = parts;
  root.hidden = false;
  let loading: Promise<Find> | undefined;
  const load = () => (loading ??= loadIndex(root.dataset["index"] ?? ""));

  input.addEventListener("focus", () => void load().catch(() => (loading = undefined)));
  input.addEventListener("input", () => {
    const query = input.value;
    load().then(
      (find) => query === input.value && show(parts, query, find(query)),
      () => {
        loading = undefined;
        parts.status.textContent = "The search could not be loaded.";
      },
    );
  });
  input.addEventListener("keydown", (event) => onKey(parts, event));
  input.addEventListener("blur", () => close(parts));
  // Pressing the mouse would move the focus and close the list before the click.
  results.addEventListener("mousedown", (event) => event.preventDefault());
  results.addEventListener("click", () => close(parts));
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (isField(event.target)) return;
    event.preventDefault();
    input.focus();
    input.select();
  });
}

function findParts(): SearchParts | undefined {
  const root = document.querySelector<HTMLElement>(".search");
  const input = root?.querySelector("input");
  const results = root?.querySelector<HTMLElement>("[role=listbox]");
  const status = root?.querySelector<HTMLElement>("[role=status]");
  if (!root || !input || !results || !status) return undefined;
  return { root, input, results, status };
}

async function loadIndex(address: string): Promise<Find> {
  const [{ createFind }, response] = await Promise.all([import("./find.ts"), fetch(address)]);
  if (!response.ok) throw new Error(`${address} returned status ${response.status}`);
  return createFind(await response.text());
}

function isField(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("input, textarea, select") !== null;
}

function onKey(parts: SearchParts, event: KeyboardEvent): void {
  const { input, results } = parts;
  const options = [...results.children];
  const chosen = options.findIndex((it) => it.ariaSelected === "true");
  const open = !results.hidden && options.length > 0;
  if (event.key === "Escape" && open) close(parts);
  else if (event.key === "Enter" && open) {
    const option = options[Math.max(chosen, 0)];
    if (option instanceof HTMLElement) option.click();
    input.blur();
  } else if (event.key === "ArrowDown" && open) choose(parts, (chosen + 1) % options.length);
  else if (event.key === "ArrowUp" && open) {
    choose(parts, (Math.max(chosen, 0) - 1 + options.length) % options.length);
  } else return;
  event.preventDefault();
}

function choose({ input, results }: SearchParts, index: number): void {
  for (const [at, option] of [...results.children].entries()) {
    option.ariaSelected = String(at === index);
    if (at !== index) continue;
    input.setAttribute("aria-activedescendant", option.id);
    option.scrollIntoView({ block: "nearest" });
  }
}

function close({ input, results, status }: SearchParts): void {
  results.hidden = true;
  status.textContent = "";
  input.ariaExpanded = "false";
  input.removeAttribute("aria-activedescendant");
}

function show(parts: SearchParts, query: string, found: readonly SearchHit[]): void {
  close(parts);
  const { input, results, status } = parts;
  if (query.trim() === "") return;
  results.replaceChildren(...found.map(optionFor));
  results.hidden = found.length === 0;
  input.ariaExpanded = String(found.length > 0);
  status.textContent = found.length === 0 ? "Nothing found" : `${found.length} results`;
}

/** Returns a result as a link, which can be opened in another tab. */
function optionFor({ href, heading, guide, text, terms }: SearchHit, index: number): HTMLElement {
  const option = document.createElement("a");
  option.id = `result-${index}`;
  option.href = href;
  option.role = "option";
  option.tabIndex = -1;
  option.ariaSelected = "false";
  option.append(
    line("result-heading", [{ text: heading, isMatch: false }]),
    line("result-guide", [{ text: heading === guide ? "" : guide, isMatch: false }]),
    line("result-text", excerptOf(text, terms)),
  );
  return option;
}

function line(name: string, pieces: readonly Piece[]): HTMLElement {
  const element = document.createElement("span");
  element.className = name;
  element.append(
    ...pieces.map(({ text, isMatch }) => {
      if (!isMatch) return text;
      const mark = document.createElement("mark");
      mark.textContent = text;
      return mark;
    }),
  );
  return element;
}

/**
 * Returns the excerpt around the first match, with all matches highlighted.
 *
 * @param words words that contain only letters and digits
 */
function excerptOf(text: string, words: readonly string[]): Piece[] {
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(${words.join("|")})`, "giu");
  const first = words.length === 0 ? -1 : text.search(pattern);
  const start = first <= BEFORE ? 0 : text.indexOf(" ", first - BEFORE) + 1;
  const end = text.length <= start + LENGTH ? text.length : text.lastIndexOf(" ", start + LENGTH);
  const shown = `${start > 0 ? "… " : ""}${text.slice(start, end)}${end < text.length ? " …" : ""}`;
  if (first === -1) return [{ text: shown, isMatch: false }];
  // Splitting at a capturing group returns the matches at odd indexes.
  return shown.split(pattern).map((piece, at) => ({ text: piece, isMatch: at % 2 === 1 }));
}
