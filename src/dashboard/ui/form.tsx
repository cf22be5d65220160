import { createContext, type ComponentChildren } from "preact";
import { useContext, useLayoutEffect, useRef, useState } from "preact/hooks";
import { popForm, restoreForm, watchForm, type FormSnapshot } from "../api/stored-forms.ts";
import { fieldOf, plainText, type Labels, type Problem } from "../api/problem.ts";
import type { Action } from "../api/use-action.ts";
import { Button } from "./button.tsx";
import { toast } from "./toast.tsx";
import "./form.css";

interface FormState {
  readonly problem: Problem | undefined;
  /** Labels by field name. Errors of unlabeled fields appear above the buttons. */
  readonly labels: Map<string, string>;
  /** Fields edited since the error. Their errors are no longer shown. */
  readonly edited: ReadonlySet<string>;
  /** Contents to restore from before the session expired. */
  readonly restored: FormSnapshot;
}

const NO_SNAPSHOT: FormSnapshot = [];
const UNEDITED: ReadonlySet<string> = new Set();
export const FormContext = createContext<FormState>({
  problem: undefined,
  labels: new Map(),
  edited: UNEDITED,
  restored: [],
});

type SubmitAction = Action<readonly [FormData]>;

interface FormProps {
  readonly action: SubmitAction;
  /** Distinguishes the forms of a page. Defaults to the button's label. */
  readonly name?: string;
  readonly submit: string;
  /** The form's ID, for buttons outside the form, such as in the page's bar. */
  readonly id?: string;
  /** Contents beside the buttons. If given, the buttons stay at the bottom of the screen. */
  readonly bar?: ComponentChildren;
  readonly tone?: "primary" | "danger" | "plain";
  readonly cancel?: (() => void) | undefined;
  /** Label of the `cancel` button, "Cancel" by default. */
  readonly dismiss?: string;
  readonly children?: ComponentChildren;
}

/**
 * Fields and a button that submits them to an action:
 *
 *     const rename = useAction(async (form: FormData) => {
 *       await accounts.updateAccount({ name: textOf(form, "name") });
 *     });
 *     <Form action={rename} submit="Save">
 *       <TextField name="name" label="Name" />
 *     </Form>
 *
 * An error is shown at the field of the same name, with the field's label, until the field is
 * edited. Other errors are shown above the button until any edit. The first field with an error
 * gets the focus. If the session expires, the typed text is restored when the same person signs in
 * again.
 */
export function Form(props: FormProps) {
  const { action } = props;
  const form = useRef<HTMLFormElement>(null);
  const [labels] = useState(() => new Map<string, string>());
  const { edited, noteEdit } = useEdited(action.problem);
  const { restored, noteTyped } = useRestored(props.name ?? props.submit, form);
  // Runs before painting, because the user may type as soon as the error is visible.
  useLayoutEffect(() => {
    if (!action.problem) return;
    // Wait until the context has updated the fields.
    queueMicrotask(() => {
      const refused = form.current?.querySelector<HTMLElement>("[aria-invalid=true]");
      if (refused) refused.focus();
      else form.current?.querySelector(":scope > .problem")?.scrollIntoView({ block: "nearest" });
    });
  }, [action.problem]);
  return (
    <form
      ref={form}
      id={props.id}
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
      <FormContext.Provider value={{ problem: action.problem, labels, edited, restored }}>
        {props.children}
        <FormProblem />
      </FormContext.Provider>
      {props.id === undefined && <Buttons {...props} />}
    </form>
  );
}

function Buttons(props: FormProps) {
  const { bar, cancel } = props;
  const buttons = (
    <div class="actions">
      {cancel && <Button onClick={cancel}>{props.dismiss ?? "Cancel"}</Button>}
      <SubmitButton {...props} isRunning={props.action.isRunning} />
    </div>
  );
  if (bar === undefined) return buttons;
  return (
    <div class="page-bar">
      {bar}
      {buttons}
    </div>
  );
}

export function SubmitButton(props: {
  readonly submit: string;
  readonly isRunning: boolean;
  readonly form?: string;
  readonly tone?: "primary" | "danger" | "plain";
}) {
  return (
    <button
      type="submit"
      form={props.form}
      class={`button ${props.tone ?? "primary"}`}
      aria-disabled={props.isRunning}
      aria-busy={props.isRunning}
    >
      {props.submit}
    </button>
  );
}

/** Restores the contents from before the session expired. */
function useRestored(name: string, form: { readonly current: HTMLFormElement | null }) {
  const [restored] = useState(() => popForm(name) ?? NO_SNAPSHOT);
  const isTyped = useRef(false);
  useLayoutEffect(() => {
    if (restored.length === 0) return;
    // Child effects add the rows to restore, so restore after them.
    setTimeout(() => form.current && void restoreForm(form.current, restored));
    toast("Your unsaved changes were restored.");
  }, []);
  useLayoutEffect(() => watchForm(name, () => (isTyped.current ? form.current : null)), [name]);
  return { restored, noteTyped: () => void (isTyped.current = true) };
}

/** Returns the number of list rows to restore. `part` matches a field that each row has. */
export function useRestoredRows(part: RegExp): number {
  return useContext(FormContext).restored.filter(([name]) => part.test(name)).length;
}

function useEdited(problem: Problem | undefined) {
  const [state, setState] = useState({ problem, edited: UNEDITED });
  const edited = state.problem === problem ? state.edited : UNEDITED;
  const noteEdit = ({ type, target }: Event) => {
    // A button within a field, such as one that removes a row, also edits it.
    const isEdit = type === "input" || (target as Element).closest(".field button") !== null;
    const name = (target as Element).closest<HTMLElement>("[data-field]")?.dataset.field ?? "";
    if (problem === undefined || !isEdit || edited.has(name)) return;
    setState({ problem, edited: new Set([...edited, name]) });
  };
  return { edited, noteEdit };
}

/**
 * Shows errors that no field shows. Rendered after the fields, which register their labels. An
 * error stays with its field even if the field has been removed since.
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
        Fix the highlighted fields.
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
  return [...new Set(others.flatMap(([name, texts]) => texts.map((text) => plainText(text, name, labels))))];
}

export function useFormProblem(): Problem | undefined {
  return useContext(FormContext).problem;
}
