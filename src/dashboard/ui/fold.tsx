import type { ComponentChildren } from "preact";
import { useFormProblem } from "./form.tsx";

/** Fields that few need, folded until one of them is refused. */
export function Fold(props: {
  readonly summary: ComponentChildren;
  /** The names of its fields. */
  readonly names: RegExp;
  readonly isOpen?: boolean;
  readonly children: ComponentChildren;
}) {
  const { fields = {} } = useFormProblem() ?? {};
  const isRefused = Object.keys(fields).some((name) => props.names.test(name));
  return (
    <details class="fold" open={isRefused || props.isOpen}>
      <summary>{props.summary}</summary>
      <div class="form">{props.children}</div>
    </details>
  );
}
