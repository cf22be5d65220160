import type { ComponentChildren } from "preact";
import { useContext, useId, useLayoutEffect, useRef } from "preact/hooks";
import { fieldOf, plainText } from "../api/problem.ts";
import { FormContext } from "./form.tsx";

/** What is wrong with a field; nothing once it was changed, by typing or as `value`. */
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
  /** The name of the request's field. */
  readonly name: string;
  readonly label: string;
  /** Below the field: form, unit, consequence. */
  readonly hint?: ComponentChildren;
  readonly optional?: boolean;
}

interface InputProps {
  readonly id: string;
  readonly name: string;
  readonly "aria-invalid": boolean;
  readonly "aria-describedby": string | undefined;
}

/** A label, an input of any kind, and what is wrong with it. The other fields are made of this one. */
export function Field(
  props: FieldProps & {
    /** What it holds, where that also changes otherwise than by typing into it. */
    readonly value?: unknown;
    readonly children: (input: InputProps) => ComponentChildren;
  },
) {
  const id = useId();
  const errors = useErrors(props, props.value);
  const described = [errors.length > 0 && `${id}-error`, props.hint && `${id}-hint`].filter(
    Boolean,
  );
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

/** The values of an enum by what each is called, of which none is chosen at first. */
export function choicesOf(labels: Readonly<Record<number, string>>): Choices {
  return Object.entries(labels).map(([value, label]) => [value === "0" ? "" : value, label]);
}

interface TypedProps extends FieldProps {
  /** What it holds at first; later changes of it are shown too. */
  readonly value?: string | number | undefined;
  readonly onInput?: (text: string) => void;
}

/** What an input holds: what the page says with `onInput`, else what is typed. */
function contentOf({ value, onInput }: TypedProps) {
  const content =
    onInput === undefined
      ? { defaultValue: value === undefined ? undefined : String(value) }
      : { value };
  const listener =
    onInput &&
    (({ currentTarget }: { readonly currentTarget: { readonly value: string } }) =>
      onInput(currentTarget.value));
  return { ...content, onInput: listener };
}

/** One line of text, or with `numeric` a number, read as one. */
export function TextField(
  props: TypedProps & {
    readonly type?: "text" | "email" | "password" | "date" | "time" | "datetime-local";
    readonly numeric?: boolean;
    readonly autoComplete?: string;
    readonly placeholder?: string;
    /** The id of a list of what it may be. */
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
          // The types of attributes tell apart what this field does not.
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
  return (
    <Field {...props}>
      {(input) => <textarea {...input} dir="auto" rows={3} {...contentOf(props)} />}
    </Field>
  );
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

/** When what is replaced ends, in seconds: the field `overlap_seconds`. */
export function OverlapField(props: {
  readonly label: string;
  readonly hint: string;
  readonly value: number;
}) {
  return <SelectField name="overlap_seconds" {...props} choices={OVERLAPS} />;
}

export function FieldGroup(
  props: FieldProps & {
    /** Checkboxes beside each other, or parts of which the first choose one. */
    readonly kind: "choices" | "window" | "rows";
    /** What it holds, where that also changes otherwise than by typing into it. */
    readonly value?: unknown;
    readonly children: ComponentChildren;
  },
) {
  const id = useId();
  const errors = useErrors(props, props.value);
  // Only of a group of radio buttons can be said that it is wrong.
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
    /** Those that are chosen at first. */
    readonly values: readonly string[];
  },
) {
  return (
    <FieldGroup {...props} kind="choices">
      {props.choices.map(([value, label]) => (
        <label key={value}>
          <input
            type="checkbox"
            name={props.name}
            value={value}
            defaultChecked={props.values.includes(value)}
          />
          {label}
        </label>
      ))}
    </FieldGroup>
  );
}

/** Yes or no. Errors are shown above the buttons. */
export function CheckField(
  props: FieldProps & {
    readonly checked?: boolean;
    /** What it stands for while it is checked, in a field that is no boolean. */
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
        defaultChecked={props.checked}
        onChange={({ currentTarget }) => props.change?.(currentTarget.checked)}
      />
      <label for={id}>{props.label}</label>
      {props.hint && <p class="hint">{props.hint}</p>}
    </div>
  );
}
