import type { Typed } from "../api/kept-forms.ts";

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

/** Reads what the fields of a form hold, without files and what is never kept. */
export function typedOf(form: HTMLFormElement): Typed {
  return controlsOf(form).map((it) => [it.name, isChoice(it) ? it.checked : it.value] as const);
}

/**
 * Puts into fields what was typed, as if it were typed again. Choices come first: other fields may be
 * there only with them. Each is rendered before the next, since pages may work out from all of them
 * what one of them changes.
 */
export async function typeAgain(form: HTMLFormElement, typed: Typed): Promise<void> {
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
    (it): it is Control =>
      (it instanceof HTMLInputElement && !["file", "hidden", "password"].includes(it.type)) ||
      it instanceof HTMLSelectElement ||
      it instanceof HTMLTextAreaElement,
  );
}

function isChoice(control: Control): control is HTMLInputElement {
  return control instanceof HTMLInputElement && ["checkbox", "radio"].includes(control.type);
}
