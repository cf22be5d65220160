import { createContext, type ComponentChildren } from "preact";
import { useContext, useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { takeForm, watchForm, type Typed } from "../api/kept-forms.ts";
import { fieldOf, plainText, type Labels } from "../api/plain-text.ts";
import type { Problem } from "../api/problem.ts";
import type { Action } from "../api/use-action.ts";
import { numberFrom } from "./format.ts";
import { toast } from "./toast.tsx";
import { typeAgain, typedOf } from "./typed-fields.ts";

/** What the fields of a form need of it. */
interface FormState {
  readonly problem: Problem | undefined;
  /** What the fields there are are called; what is said of others is said above the buttons. */
  readonly labels: Map<string, string>;
  /** The fields that were changed since the problem: what was said of them may be right by now. */
  readonly edited: ReadonlySet<string>;
  /** What was typed before the session ended, which the form is about to put into its fields. */
  readonly kept: Typed;
}

const NOTHING_TYPED: Typed = [];
const UNEDITED: ReadonlySet<string> = new Set();
const FormContext = createContext<FormState>({
  problem: undefined,
  labels: new Map(),
  edited: UNEDITED,
  kept: [],
});

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
 * A refusal is shown at the field of the same name, with the field's label, until it is changed; and
 * what is about none above the button, until anything is. The first field that is refused gets the focus.
 * What was typed when the session ends is there again once the same person has signed in again.
 */
export function Form(props: {
  readonly action: SubmitAction;
  /** Tells it from other forms of the page; what the button says when not given. */
  readonly name?: string;
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
  const [labels] = useState(() => new Map<string, string>());
  const { edited, noteEdit } = useEdited(action.problem);
  const { kept, noteTyped } = useKept(props.name ?? props.submit, form);
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
      onInput={(event) => {
        noteTyped();
        noteEdit(event);
      }}
      onClick={noteEdit}
      onSubmit={(event) => {
        event.preventDefault();
        void action.run(new FormData(event.currentTarget));
      }}
    >
      <FormContext.Provider value={{ problem: action.problem, labels, edited, kept }}>
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

/** Has what is typed into a form outlast the session, and puts it into the fields again. */
function useKept(name: string, form: { readonly current: HTMLFormElement | null }) {
  const [kept] = useState(() => takeForm(name) ?? NOTHING_TYPED);
  const isTyped = useRef(false);
  useLayoutEffect(() => {
    if (kept.length === 0) return;
    // After the effects of its parts, which make room for what was typed.
    setTimeout(() => form.current && void typeAgain(form.current, kept));
    toast("What you typed is here again.");
  }, []);
  useLayoutEffect(
    () =>
      watchForm(name, () => (isTyped.current && form.current ? typedOf(form.current) : undefined)),
    [name],
  );
  return { kept, noteTyped: () => void (isTyped.current = true) };
}

/** How many rows of a form held something before the session ended; `part` names a field that each has. */
export function useKeptRows(part: RegExp): number {
  return useContext(FormContext).kept.filter(([name]) => part.test(name)).length;
}

/** The fields that were changed since a problem, and what notes that one is. */
function useEdited(problem: Problem | undefined) {
  const [state, setState] = useState({ problem, edited: UNEDITED });
  const edited = state.problem === problem ? state.edited : UNEDITED;
  const noteEdit = ({ type, target }: Event) => {
    // A button within a field, such as one that takes a row away, changes it too.
    const isEdit = type === "input" || (target as Element).closest(".field button") !== null;
    const name = (target as Element).closest<HTMLElement>("[data-field]")?.dataset.field ?? "";
    if (problem === undefined || !isEdit || edited.has(name)) return;
    setState({ problem, edited: new Set([...edited, name]) });
  };
  return { edited, noteEdit };
}

/**
 * What was refused that no field shows. It comes after the fields, which have named themselves: those
 * there were when it was refused count, also when one of them is gone since.
 */
function FormProblem() {
  const { problem, labels, edited } = useContext(FormContext);
  const shown = useRef<{ problem: Problem; texts: readonly string[] }>(undefined);
  if (problem === undefined || edited.size > 0) return null;
  if (shown.current?.problem !== problem) {
    shown.current = { problem, texts: textsWithoutField(problem, labels) };
  }
  const { texts } = shown.current;
  if (texts.length === 0)
    return (
      <p class="visually-hidden" role="alert">
        Some fields are not right yet.
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

function textsWithoutField({ message, fields }: Problem, labels: Labels): readonly string[] {
  const all = Object.entries(fields);
  if (all.length === 0) return [message];
  const others = all.filter(([name]) => fieldOf(name, labels) === undefined);
  return [
    ...new Set(others.flatMap(([name, texts]) => texts.map((it) => plainText(it, name, labels)))),
  ];
}

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
  const errors = useErrors(props);
  return (
    <fieldset class="field choices" data-field={props.name} aria-describedby={`${id}-note`}>
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
