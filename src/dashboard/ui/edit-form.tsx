import type { CallOptions } from "@connectrpc/connect";
import type { ComponentChildren, ComponentType } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { Problem } from "../api/problem.ts";
import { reloadAll, useAction, useIdempotencyOptions } from "../api/use-action.ts";
import { Button } from "./button.tsx";
import { Form } from "./form.tsx";
import { toast, useShown } from "./toast.tsx";

interface Versioned {
  readonly etag?: string;
}

export interface EditFormProps<R> {
  readonly record: R;
  /** The record when editing began. */
  readonly from: R;
  readonly restart: () => void;
  readonly close: () => void;
}

/** Edits a record with an `<EditForm>`. The user can restart from the current record. */
export function Edit<R extends Versioned>(props: {
  readonly record: R;
  readonly close: () => void;
  readonly form: ComponentType<EditFormProps<R>>;
}) {
  const { record, close, form: EditFormOf } = props;
  const [from, setFrom] = useState(record);
  const restart = () => setFrom(record);
  return <EditFormOf key={from.etag} {...{ record, from, restart, close }} />;
}

/** Saves a record's fields, or shows a conflict if another user has changed the record. */
export function EditForm<R extends Versioned>(
  props: EditFormProps<R> & {
    readonly what: string;
    readonly save: (form: FormData, idempotencyOptions: CallOptions) => Promise<unknown>;
    /** Rewords refusals for this page. By default the service's message is shown. */
    readonly reword?: (problem: Problem) => Problem;
    readonly bar?: ComponentChildren;
    readonly children: ComponentChildren;
  },
) {
  const { record, from, what, save, reword, restart, close, bar, children } = props;
  const options = useIdempotencyOptions();
  const { isShown, noteError } = useShown(`Edit ${what}`);
  const edit = useAction(async (form: FormData) => {
    await save(form, options).catch(noteError);
    toast("Changes saved.");
    if (isShown.current) close();
  });
  const isLoaded = record.etag !== from.etag && !edit.isRunning;
  const isStale = isLoaded || edit.problem?.reason === "ETAG_STALE";
  const problem = useMemo(() => (edit.problem && reword ? reword(edit.problem) : edit.problem), [edit.problem]);
  return (
    <Form
      name={`Edit ${what}`}
      action={{ ...edit, problem: isStale ? undefined : problem }}
      submit="Save changes"
      cancel={close}
      bar={bar}
    >
      {isStale && <StaleNote {...{ what, isLoaded, restart }} />}
      {children}
    </Form>
  );
}

function StaleNote(props: { readonly what: string; readonly isLoaded: boolean; readonly restart: () => void }) {
  const { what, isLoaded, restart } = props;
  useEffect(() => {
    if (!isLoaded) reloadAll();
  }, []);
  return (
    <div class="problem attention" role="alert">
      <p>Someone else has changed the {what}. Reload it to continue. Your changes here will be lost.</p>
      <Button disabled={!isLoaded} onClick={restart}>
        Reload
      </Button>
    </div>
  );
}
