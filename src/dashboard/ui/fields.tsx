import type { ComponentChildren } from "preact";
import { useContext, useId, useLayoutEffect, useRef } from "preact/hooks";
import { fieldOf, plainText } from "../api/problem.ts";
import { FormContext } from "./form.tsx";

/** Returns a field's errors. Cleared when the field is edited or `value` changes. */
function useErrors({ name, label }: FieldProps, value?: unknown): readonly string[] {
  const { problem, labels, edited } = useContext(FormContext);
  labels.set(name, label);
  useLayoutEffect(() => {
    labels.set(name, label);
    return () => void labels.delete(name);
  }, [labels, name, label]);
  const refused = useRef({ problem, value });
  if (refused.current.problem !== problem) refused.current = { problem, value };
  if (problem === undefined || edited.has(name) || refused.current.value !== value) return [];
  return Object.entries(problem.fields)
    .filter(([about]) => fieldOf(about, labels) === name)
    .flatMap(([about, texts]) => texts.map((text) => plainText(text, about, labels)));
}

interface FieldProps {
  /** Name of the request field. */
  readonly name: string;
  readonly label: string;
  /** Format, unit or consequence, shown below the field. */
  readonly hint?: ComponentChildren;
  readonly optional?: boolean;
}

interface InputProps {
  readonly id: string;
  readonly name: string;
  readonly "aria-invalid": boolean;
  readonly "aria-describedby": string | undefined;
}

/** A label, any kind of input, and its errors. The other fields build on this component. */
export function Field(
  props: FieldProps & {
    /** Current value. Pass it if the value can also change without user input. A change clears the errors. */
    readonly value?: unknown;
    readonly children: (input: InputProps) => ComponentChildren;
  },
) {
  const id = useId();
  const errors = useErrors(props, props.value);
  const described = [errors.length > 0 && `${id}-error`, props.hint && `${id}-hint`].filter(Boolean);
  return (
    <div class="field" data-field={props.name}>
      <label for={id}>
        {props.label}
        {props.optional && <span class="optional"> (optional)</span>}
      </label>
      {props.children({
        id,
        name: props.name,
        "aria-invalid": errors.length > 0,
        "aria-describedby": described.join(" ") || undefined,
      })}
      {errors.length > 0 && (
        <p class="field-error" id={`${id}-error`}>
          {errors.join(" ")}
        </p>
      )}
      {props.hint && (
        <p class="hint" id={`${id}-hint`}>
          {props.hint}
        </p>
      )}
    </div>
  );
}

export type Choices = readonly (readonly [value: string, label: string])[];

/** Returns labeled enum values as choices, initially unselected. */
export function choicesOf(labels: Readonly<Record<number, string>>): Choices {
  return Object.entries(labels).map(([value, label]) => [value === "0" ? "" : value, label]);
}

interface TypedProps extends FieldProps {
  /** Initial contents. Later changes are shown too. */
  readonly value?: string | number | undefined;
  readonly onInput?: (text: string) => void;
}

/** Returns the value props of an input. With `onInput` the input is controlled, otherwise the value is initial. */
function contentOf({ value, onInput }: TypedProps) {
  const content = onInput === undefined ? { defaultValue: value === undefined ? undefined : String(value) } : { value };
  const listener =
    onInput &&
    (({ currentTarget }: { readonly currentTarget: { readonly value: string } }) => onInput(currentTarget.value));
  return { ...content, onInput: listener };
}

/** One line of text, or a number with `numeric`. */
export function TextField(
  props: TypedProps & {
    readonly type?: "text" | "email" | "password" | "date" | "time" | "datetime-local";
    readonly numeric?: boolean;
    readonly autoComplete?: string;
    readonly placeholder?: string;
    /** Id of a `<datalist>` of suggestions. */
    readonly list?: string;
  },
) {
  const { type = "text", numeric, autoComplete = "off", placeholder, list } = props;
  return (
    <Field {...props}>
      {(input) => (
        <input
          {...input}
          dir="auto"
          // The JSX types have separate props per input type. This field treats all types alike.
          type={type as "text"}
          inputMode={numeric ? "decimal" : undefined}
          autoComplete={autoComplete}
          placeholder={placeholder}
          list={list}
          {...contentOf(props)}
        />
      )}
    </Field>
  );
}

export function TextAreaField(props: TypedProps) {
  return <Field {...props}>{(input) => <textarea {...input} dir="auto" rows={3} {...contentOf(props)} />}</Field>;
}

export function SelectField(props: TypedProps & { readonly choices: Choices }) {
  const { value, onInput } = props;
  return (
    <Field {...props}>
      {(input) => (
        <select {...input} onChange={onInput && ((event) => onInput(event.currentTarget.value))}>
          {props.choices.map(([choice, label]) => (
            <option key={choice} value={choice} selected={choice === String(value ?? "")}>
              {label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

const OVERLAPS = [
  ["0", "At once"],
  ["3600", "In 1 hour"],
  ["86400", "In 1 day"],
  ["604800", "In 7 days"],
] as const;

/** Field for `overlap_seconds`: the time until the replaced secret expires. */
export function OverlapField(props: { readonly label: string; readonly hint: string; readonly value: number }) {
  return <SelectField name="overlap_seconds" {...props} choices={OVERLAPS} />;
}

export function FieldGroup(
  props: FieldProps & {
    /** Kind of group: checkboxes side by side, a radio group with dependent fields, or rows. */
    readonly kind: "choices" | "window" | "rows";
    /** Current value. Pass it if the value can also change without user input. A change clears the errors. */
    readonly value?: unknown;
    readonly children: ComponentChildren;
  },
) {
  const id = useId();
  const errors = useErrors(props, props.value);
  // ARIA allows `aria-invalid` on a radio group, but not on other groups.
  const isRadio = props.kind === "window";
  return (
    <fieldset
      class={`field ${props.kind}`}
      data-field={props.name}
      role={isRadio ? "radiogroup" : undefined}
      aria-invalid={isRadio ? errors.length > 0 : undefined}
      aria-describedby={`${id}-note`}
      tabIndex={isRadio ? -1 : undefined}
    >
      <legend>{props.label}</legend>
      {props.children}
      <div id={`${id}-note`}>
        {errors.length > 0 && <p class="field-error">{errors.join(" ")}</p>}
        {props.hint && <p class="hint">{props.hint}</p>}
      </div>
    </fieldset>
  );
}

export function ChoicesField(
  props: FieldProps & {
    readonly choices: Choices;
    readonly values: readonly string[];
  },
) {
  return (
    <FieldGroup {...props} kind="choices">
      {props.choices.map(([value, label]) => (
        <label key={value}>
          <input type="checkbox" name={props.name} value={value} defaultChecked={props.values.includes(value)} />
          {label}
        </label>
      ))}
    </FieldGroup>
  );
}

/** A checkbox. Its errors are shown above the buttons. */
export function CheckField(
  props: FieldProps & {
    readonly checked?: boolean;
    /** Value of the field while checked, if it is not a boolean. */
    readonly value?: string;
    readonly change?: (isChecked: boolean) => void;
  },
) {
  const id = useId();
  return (
    <div class="field check">
      <input
        id={id}
        type="checkbox"
        name={props.name}
        value={props.value}
        {...(props.change ? { checked: props.checked } : { defaultChecked: props.checked })}
        onChange={({ currentTarget }) => props.change?.(currentTarget.checked)}
      />
      <label for={id}>{props.label}</label>
      {props.hint && <p class="hint">{props.hint}</p>}
    </div>
  );
}
