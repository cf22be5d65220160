/** Values of a form's fields: text, or whether a box is checked. An ordered list, because names can repeat. */
export type FormSnapshot = readonly (readonly [name: string, value: string | boolean])[];

const KEY = "kept-forms";

/** Form contents saved when a session expired. Only the same person gets them back. */
interface StoredForms {
  readonly person: string;
  readonly forms: Readonly<Record<string, FormSnapshot>>;
}

/** Displayed forms by URL and name. The function returns null for a form without edits. */
const shown = new Map<string, () => HTMLFormElement | null>();

/** Registers a form whose contents are stored when the session expires. Returns an unsubscribe function. */
export function watchForm(name: string, typedInto: () => HTMLFormElement | null): () => void {
  const key = keyOf(name);
  shown.set(key, typedInto);
  return () => {
    if (shown.get(key) === typedInto) shown.delete(key);
  };
}

/** Stores the edited contents of all displayed forms for a person. */
export function storeForms(person: string): void {
  const forms = [...shown].flatMap(([key, typedInto]) => {
    const form = typedInto();
    return form === null ? [] : [[key, typedOf(form)] as const];
  });
  if (forms.length === 0) return;
  const stored: StoredForms = { person, forms: Object.fromEntries(forms) };
  try {
    sessionStorage.setItem(KEY, JSON.stringify(stored));
  } catch {
    // The contents exceed the browser's storage quota.
  }
}

export function hasStoredForms(): boolean {
  return sessionStorage.getItem(KEY) !== null;
}

/** Returns and deletes the stored contents of a form on this page. */
export function popForm(name: string): FormSnapshot | undefined {
  const { [keyOf(name)]: typed, ...others } = readStored()?.forms ?? {};
  if (typed === undefined) return undefined;
  sessionStorage.setItem(KEY, JSON.stringify({ ...readStored(), forms: others }));
  return typed;
}

/** Deletes the stored form contents, unless they belong to this person. */
export function dropForms(person?: string): void {
  if (person === undefined || readStored()?.person !== person) sessionStorage.removeItem(KEY);
}

function readStored(): StoredForms | undefined {
  const text = sessionStorage.getItem(KEY);
  return text === null ? undefined : (JSON.parse(text) as StoredForms);
}

function keyOf(name: string): string {
  return `${location.pathname} ${name}`;
}

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/** Reads a form's fields, except files and secrets. */
function typedOf(form: HTMLFormElement): FormSnapshot {
  return controlsOf(form).map(
    (control) => [control.name, isChoice(control) ? control.checked : control.value] as const,
  );
}

/**
 * Restores field values as if typed. Choices come first, because other fields may depend on them. Each value is
 * rendered before the next one is set, because a page may compute a change from all fields.
 */
export async function restoreForm(form: HTMLFormElement, typed: FormSnapshot): Promise<void> {
  const seen = new Map<string, number>();
  const numbered = typed.map(([name, value]) => {
    const at = seen.get(name) ?? 0;
    seen.set(name, at + 1);
    return { name, value, at };
  });
  const [choices, others] = [true, false].map((early) =>
    numbered.filter(({ value }) => (typeof value === "boolean") === early),
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
      (element instanceof HTMLInputElement && !["file", "hidden", "password"].includes(element.type)) ||
      element instanceof HTMLSelectElement ||
      element instanceof HTMLTextAreaElement,
  );
}

function isChoice(control: Control): control is HTMLInputElement {
  return control instanceof HTMLInputElement && ["checkbox", "radio"].includes(control.type);
}
