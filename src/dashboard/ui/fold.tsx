import type { ComponentChildren } from "preact";
import { useFormProblem } from "./form.tsx";

/** Rarely used contents, collapsed until one of the fields with these names has an error. */
export function Fold(props: {
  readonly summary: ComponentChildren;
  readonly names?: RegExp;
  readonly isOpen?: boolean;
  readonly children: ComponentChildren;
}) {
  const { fields = {} } = useFormProblem() ?? {};
  const isRefused = Object.keys(fields).some((name) => props.names?.test(name));
  return (
    <details class="fold" open={isRefused || props.isOpen}>
      <summary>{props.summary}</summary>
      <div class="form">{props.children}</div>
    </details>
  );
}
