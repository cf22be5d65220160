import { useApp } from "./state.ts";

/** Asks the courier to open a link. `result` is why the last one did not open. */
export function LinkNeeded({ result }: { readonly result?: "invalid" | "unreachable" }) {
  const { state, t } = useApp();
  // Without a session, this is the whole page.
  const Element = state.session === undefined ? "main" : "section";
  const text = { invalid: t.linkInvalid, unreachable: t.linkUnreachable, none: t.linkNeededText }[result ?? "none"];
  return (
    <Element class="notice">
      {state.session === undefined && <h1>{t.linkNeeded}</h1>}
      <p role="alert">{text}</p>
    </Element>
  );
}
