/** What a field of a form holds: a text, or whether it is chosen. In order, as names may come twice. */
export type FormSnapshot = readonly (readonly [name: string, value: string | boolean])[];

const KEY = "kept-forms";

/** What was typed into forms when a session ended, by the form; nobody else is given it. */
interface Kept {
  readonly person: string;
  readonly forms: Readonly<Record<string, FormSnapshot>>;
}

/** The forms that are shown, by their address and name; null for one into which nothing was typed. */
const shown = new Map<string, () => HTMLFormElement | null>();

/** Keeps what is typed into a form when the session ends; returns an unsubscribe function. */
export function watchForm(name: string, typedInto: () => HTMLFormElement | null): () => void {
  const key = keyOf(name);
  shown.set(key, typedInto);
  return () => {
    if (shown.get(key) === typedInto) shown.delete(key);
  };
}

/** Keeps what a person, by their id, has typed into the forms that are shown. */
export function keepForms(person: string): void {
  const forms = [...shown].flatMap(([key, typedInto]) => {
    const form = typedInto();
    return form === null ? [] : [[key, typedOf(form)] as const];
  });
  if (forms.length === 0) return;
  const kept: Kept = { person, forms: Object.fromEntries(forms) };
  try {
    sessionStorage.setItem(KEY, JSON.stringify(kept));
  } catch {
    // It has more than browsers keep.
  }
}

export function hasKeptForms(): boolean {
  return sessionStorage.getItem(KEY) !== null;
}

/** Gives back what was typed into a form of the page, once. */
export function takeForm(name: string): FormSnapshot | undefined {
  const { [keyOf(name)]: typed, ...others } = readKept()?.forms ?? {};
  if (typed === undefined) return undefined;
  sessionStorage.setItem(KEY, JSON.stringify({ ...readKept(), forms: others }));
  return typed;
}

/** Forgets what is kept of anybody but this person; all of it without one. */
export function dropForms(person?: string): void {
  if (person === undefined || readKept()?.person !== person) sessionStorage.removeItem(KEY);
}

function readKept(): Kept | undefined {
  const text = sessionStorage.getItem(KEY);
  return text === null ? undefined : (JSON.parse(text) as Kept);
}

function keyOf(name: string): string {
  return `${location.pathname} ${name}`;
}

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/** Reads what the fields of a form hold, without files and what is never kept. */
function typedOf(form: HTMLFormElement): FormSnapshot {
  return controlsOf(form).map(
    (control) => [control.name, isChoice(control) ? control.checked : control.value] as const,
  );
}

/**
 * Puts into fields what was typed, as if it were typed again. Choices come first: other fields may be
 * there only with them. Each is rendered before the next, since pages may work out from all of them
 * what one of them changes.
 */
export async function restoreForm(form: HTMLFormElement, typed: FormSnapshot): Promise<void> {
  const seen = new Map<string, number>();
  const placed = typed.map(([name, value]) => {
    const at = seen.get(name) ?? 0;
    seen.set(name, at + 1);
    return { name, value, at };
  });
  const [choices, others] = [true, false].map((early) =>
    placed.filter(({ value }) => (typeof value === "boolean") === early),
  );
  for (const { name, value, at } of [...choices!, ...others!]) {
    const control = controlsOf(form).filter((other) => other.name === name)[at];
    if (control === undefined) continue;
    if (typeof value === "boolean") {
      if (isChoice(control) && control.checked !== value) control.click();
    } else if (control.value !== value) {
      control.value = value;
      for (const type of ["input", "change"]) {
        control.dispatchEvent(new Event(type, { bubbles: true }));
      }
    }
    await Promise.resolve();
  }
}

function controlsOf(form: HTMLFormElement): Control[] {
  return [...form.elements].filter(
    (element): element is Control =>
      (element instanceof HTMLInputElement &&
        !["file", "hidden", "password"].includes(element.type)) ||
      element instanceof HTMLSelectElement ||
      element instanceof HTMLTextAreaElement,
  );
}

function isChoice(control: Control): control is HTMLInputElement {
  return control instanceof HTMLInputElement && ["checkbox", "radio"].includes(control.type);
}
