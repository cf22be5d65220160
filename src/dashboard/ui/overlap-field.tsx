import { SelectField } from "./form.tsx";

const CHOICES = [
  ["0", "At once"],
  ["3600", "In 1 hour"],
  ["86400", "In 1 day"],
  ["604800", "In 7 days"],
] as const;

/** When what is replaced ends: the field `overlap_seconds`. */
export function OverlapField(props: {
  readonly label: string;
  readonly hint: string;
  /** In seconds, one of the choices. */
  readonly value: number;
}) {
  return <SelectField name="overlap_seconds" {...props} choices={CHOICES} />;
}
