/** What a field of a form holds: a text, or whether it is chosen. In order, as names may come twice. */
export type Typed = readonly (readonly [name: string, value: string | boolean])[];

/** Where forms are kept, for this tab alone and until it is closed. */
const KEY = "kept-forms";

/** What was typed into forms when a session ended, by the form; nobody else is given it. */
interface Kept {
  readonly person: string;
  readonly forms: Readonly<Record<string, Typed>>;
}

/** The forms that are shown, by their address and name, each with what was typed if anything was. */
const shown = new Map<string, () => Typed | undefined>();

/** Has what is typed into a form kept when the session ends; gives what ends that. */
export function watchForm(name: string, readForm: () => Typed | undefined): () => void {
  const key = keyOf(name);
  shown.set(key, readForm);
  return () => {
    if (shown.get(key) === readForm) shown.delete(key);
  };
}

/** Keeps what a person, by their id, has typed into the forms that are shown. */
export function keepForms(person: string): void {
  const forms = [...shown].flatMap(([key, readForm]) => {
    const typed = readForm();
    return typed === undefined ? [] : [[key, typed] as const];
  });
  if (forms.length === 0) return;
  const kept: Kept = { person, forms: Object.fromEntries(forms) };
  try {
    sessionStorage.setItem(KEY, JSON.stringify(kept));
  } catch {
    // It has more than browsers keep.
  }
}

/** Whether anything is kept. */
export function hasKeptForms(): boolean {
  return sessionStorage.getItem(KEY) !== null;
}

/** Gives back what was typed into a form of the page, once. */
export function takeForm(name: string): Typed | undefined {
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
