import { createContext, type ComponentChildren } from "preact";
import { useContext, useEffect, useId, useRef } from "preact/hooks";
import type { Problem } from "../api/problem.ts";
import type { Action } from "../api/use-action.ts";
import { numberFrom } from "./format.ts";

/** What the fields of a form need of it. */
interface FormState {
  readonly problem: Problem | undefined;
  /** The names of the fields there are; what is said of others is said above the buttons. */
  readonly names: Set<string>;
}

const FormContext = createContext<FormState>({ problem: undefined, names: new Set() });

/** Runs with what was typed. */
export type SubmitAction = Action<readonly [FormData]>;

/**
 * Fields and a button that runs an action with them:
 *
 *     const rename = useAction(async (form: FormData) => {
 *       await accounts.updateAccount({ name: textOf(form, "name") });
 *     });
 *     <Form action={rename} submit="Save">
 *       <TextField name="name" label="Name" />
 *     </Form>
 *
 * A refusal is shown at the field of the same name, and what is about none above the button. The first
 * field that is refused gets the focus.
 */
export function Form(props: {
  readonly action: SubmitAction;
  /** What the button says. */
  readonly submit: string;
  readonly tone?: "primary" | "danger";
  readonly cancel?: (() => void) | undefined;
  /** What the button of `cancel` says; "Cancel" unless told otherwise. */
  readonly dismiss?: string;
  readonly children?: ComponentChildren;
}) {
  const { action } = props;
  const form = useRef<HTMLFormElement>(null);
  const names = new Set<string>();
  useEffect(() => {
    if (!action.problem) return;
    const refused = form.current?.querySelector<HTMLElement>("[aria-invalid=true]");
    if (refused) refused.focus();
    else form.current?.querySelector(":scope > .problem")?.scrollIntoView({ block: "nearest" });
  }, [action.problem]);
  return (
    <form
      ref={form}
      class="form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void action.run(new FormData(event.currentTarget));
      }}
    >
      <FormContext.Provider value={{ problem: action.problem, names }}>
        {props.children}
        <FormProblem />
      </FormContext.Provider>
      <div class="actions">
        {props.cancel && (
          <button type="button" class="button" onClick={props.cancel}>
            {props.dismiss ?? "Cancel"}
          </button>
        )}
        <button
          type="submit"
          class={`button ${props.tone ?? "primary"}`}
          aria-disabled={action.isRunning}
          aria-busy={action.isRunning}
        >
          {props.submit}
        </button>
      </div>
    </form>
  );
}

/** What was refused that no field shows. It comes after the fields, which have named themselves. */
function FormProblem() {
  const { problem, names } = useContext(FormContext);
  if (problem === undefined) return null;
  const all = Object.entries(problem.fields);
  const others = all.filter(([name]) => !names.has(name)).flatMap(([, texts]) => texts);
  const texts = [
    ...new Set(others.length > 0 || all.length === 0 ? [problem.message, ...others] : []),
  ];
  if (texts.length === 0)
    return (
      <p class="visually-hidden" role="alert">
        {problem.message}
      </p>
    );
  return (
    <div class="problem" role="alert">
      {texts.map((text) => (
        <p key={text}>{text}</p>
      ))}
    </div>
  );
}

/** What every field has. */
interface FieldProps {
  /** The name of the request's field. */
  readonly name: string;
  readonly label: string;
  /** Below the field: form, unit, consequence. */
  readonly hint?: ComponentChildren;
  readonly optional?: boolean;
}

/** What ties an input to its label, hint and error. */
interface InputProps {
  readonly id: string;
  readonly name: string;
  readonly "aria-invalid": boolean;
  readonly "aria-describedby": string | undefined;
}

/** A label, an input of any kind, and what is wrong with it. The other fields are made of this one. */
export function Field(
  props: FieldProps & { readonly children: (input: InputProps) => ComponentChildren },
) {
  const id = useId();
  const { problem, names } = useContext(FormContext);
  names.add(props.name);
  const errors = problem?.fields[props.name] ?? [];
  const described = [errors.length > 0 && `${id}-error`, props.hint && `${id}-hint`].filter(
    Boolean,
  );
  return (
    <div class="field">
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

/** What can be typed into. */
interface TypedProps extends FieldProps {
  /** What it holds at first; later changes of it are shown too. */
  readonly value?: string | number | undefined;
  readonly onInput?: (text: string) => void;
}

/** One line of text, or with `numeric` a number, read by `numberOf`. */
export function TextField(
  props: TypedProps & {
    readonly type?: "text" | "email" | "search" | "date" | "datetime-local";
    readonly numeric?: boolean;
    readonly autoComplete?: string;
    readonly placeholder?: string;
  },
) {
  const { type = "text", value, onInput, autoComplete = "off" } = props;
  return (
    <Field {...props}>
      {(input) => (
        <input
          {...input}
          // The types of attributes tell apart what this field does not.
          type={type as "text"}
          inputMode={props.numeric ? "decimal" : undefined}
          autoComplete={autoComplete}
          placeholder={props.placeholder}
          {...(onInput
            ? { value }
            : { defaultValue: value === undefined ? undefined : String(value) })}
          onInput={onInput && ((event) => onInput(event.currentTarget.value))}
        />
      )}
    </Field>
  );
}

/** Several lines of text. */
export function TextAreaField(props: TypedProps & { readonly rows?: number }) {
  const { value, onInput } = props;
  return (
    <Field {...props}>
      {(input) => (
        <textarea
          {...input}
          rows={props.rows ?? 3}
          {...(onInput
            ? { value }
            : { defaultValue: value === undefined ? undefined : String(value) })}
          onInput={onInput && ((event) => onInput(event.currentTarget.value))}
        />
      )}
    </Field>
  );
}

/** One of several; `choices` are values and what they are called. */
export function SelectField(
  props: TypedProps & { readonly choices: readonly (readonly [value: string, label: string])[] },
) {
  const { value, onInput } = props;
  return (
    <Field {...props}>
      {(input) => (
        <select {...input} onChange={onInput && ((event) => onInput(event.currentTarget.value))}>
          {props.choices.map(([one, label]) => (
            <option key={one} value={one} selected={one === String(value ?? "")}>
              {label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

/** Any of several, read by `form.getAll(name)`; `choices` are values and what they are called. */
export function ChoicesField(
  props: FieldProps & {
    readonly choices: readonly (readonly [value: string, label: string])[];
    /** Those that are chosen at first. */
    readonly values: readonly string[];
  },
) {
  const id = useId();
  const { problem, names } = useContext(FormContext);
  names.add(props.name);
  const errors = problem?.fields[props.name] ?? [];
  return (
    <fieldset class="field choices" aria-describedby={`${id}-note`}>
      <legend>{props.label}</legend>
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
      <div id={`${id}-note`}>
        {errors.length > 0 && <p class="field-error">{errors.join(" ")}</p>}
        {props.hint && <p class="hint">{props.hint}</p>}
      </div>
    </fieldset>
  );
}

/** Yes or no, which nothing can be wrong with: what is said of it stands above the buttons. */
export function CheckField(props: FieldProps & { readonly checked?: boolean }) {
  const id = useId();
  return (
    <div class="field check">
      <input id={id} type="checkbox" name={props.name} defaultChecked={props.checked} />
      <label for={id}>{props.label}</label>
      {props.hint && <p class="hint">{props.hint}</p>}
    </div>
  );
}

/** What was typed into a field, without blanks around it. */
export function textOf(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === "string" ? value.trim() : "";
}

/** What was typed into a field that may be left empty. */
export function optionalTextOf(form: FormData, name: string): string | undefined {
  return textOf(form, name) || undefined;
}

/** The number typed into a field, with a point or a comma; NaN for no number, undefined for nothing. */
export function numberOf(form: FormData, name: string): number | undefined {
  return numberFrom(textOf(form, name));
}
