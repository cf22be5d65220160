/** A form's values by name: strings, lists and objects of them. */
export type FormValue = string | FormValue[] | { [name: string]: FormValue };

/**
 * Reads `a[b][0][c]=1` as `{ a: { b: [{ c: "1" }] } }`: Stripe's way to say objects and lists in
 * forms and queries. Of a list, `a[]=1` adds an element.
 */
export function decodeForm(text: string): { [name: string]: FormValue } {
  const tree: Node = new Map();
  for (const [name, value] of new URLSearchParams(text)) put(tree, pathOf(name), value);
  return Object.fromEntries([...tree].map(([key, node]) => [key, settle(node)]));
}

type Node = Map<string, Node | string>;

/** `a[b][0]` is a, b, 0. */
function pathOf(name: string): string[] {
  const [first = "", ...rest] = name.split("[");
  return [first, ...rest.map((part) => part.replace(/\]$/, ""))];
}

function put(node: Node, [key = "", ...rest]: readonly string[], value: string): void {
  const own = key === "" ? String(node.size) : key;
  if (rest.length === 0) {
    node.set(own, value);
    return;
  }
  const found = node.get(own);
  const below: Node = found instanceof Map ? found : new Map();
  node.set(own, below);
  put(below, rest, value);
}

function settle(node: Node | string): FormValue {
  if (typeof node === "string") return node;
  const entries = [...node].map(([key, below]): [string, FormValue] => [key, settle(below)]);
  return entries.every(([key], index) => key === String(index))
    ? entries.map(([, value]) => value)
    : Object.fromEntries(entries);
}

/** The name of what stands at this path, as a form would write it: `line_items[0][quantity]`. */
export function nameOf([first = "", ...rest]: readonly PropertyKey[]): string {
  return `${String(first)}${rest.map((part) => `[${String(part)}]`).join("")}`;
}
