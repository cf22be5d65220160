import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { useState } from "preact/hooks";
import type { TariffDraft, TariffVersion } from "../../../gen/shipments/admin/v1/tariff_pb.js";
import { TariffService } from "../../../gen/shipments/admin/v1/tariff_service_pb.js";
import { useClient } from "../api/clients.ts";
import { fieldError, problemOf } from "../api/problem.ts";
import { useAction } from "../api/use-action.ts";
import type { Query } from "../api/use-query.ts";
import { FormDialog } from "../ui/dialog.tsx";
import { optionalTextOf, SelectField, TextField, textOf } from "../ui/fields.tsx";
import { timeText } from "../ui/format.ts";
import { toast } from "../ui/toast.tsx";
import { paths } from "../routes/paths.ts";
import { changeQuery, navigate } from "../routes/router.ts";
import { NoteField, publishedText, ReplacedNote } from "./publication.tsx";

/** How long publishing may take, in milliseconds: zones can have 64 MB. */
const PUBLISH_TIMEOUT_MS = 300_000;

/** Puts a draft in force, now or at a time, after asking. */
export function PublishDraft(props: {
  readonly draft: TariffDraft;
  readonly inForce: Query<TariffVersion | null>;
}) {
  const { draft, inForce } = props;
  const [isOpen, setOpen] = useState(false);
  const replaces = inForce.data === undefined ? undefined : (inForce.data?.version ?? 0);
  return (
    <>
      <button
        type="button"
        class="button primary"
        disabled={replaces === undefined}
        onClick={() => setOpen(true)}
      >
        Publish…
      </button>
      {isOpen && replaces !== undefined && (
        <PublishDialog
          draft={draft}
          replaces={replaces}
          close={() => setOpen(false)}
          replaced={inForce.reload}
        />
      )}
    </>
  );
}

const WHEN = [
  ["now", "Now"],
  ["later", "At a time"],
] as const;

function PublishDialog(props: {
  readonly draft: TariffDraft;
  /** The version in force; 0 while there is none. */
  readonly replaces: number;
  readonly close: () => void;
  /** Called when another version is in force by now. */
  readonly replaced: () => void;
}) {
  const { replaces, close } = props;
  const [when, setWhen] = useState<string>("now");
  const publish = usePublish(props);
  return (
    <FormDialog
      title={`Publish ${props.draft.name}?`}
      action={publish}
      submit={when === "now" ? "Publish now" : "Schedule"}
      close={close}
    >
      <p>
        {replaces === 0
          ? "It becomes the first tariff in force."
          : `It takes the place of version ${replaces}.`}{" "}
        Every replica prices by it within a second. The draft is gone then.
      </p>
      <SelectField name="when" label="When" value={when} choices={WHEN} onInput={setWhen} />
      {when === "later" && (
        <TextField
          name="effective_at"
          label="Takes effect"
          type="datetime-local"
          hint="In your time zone, within a year. Nothing else can be published before then."
        />
      )}
      <NoteField />
      <ReplacedNote problem={publish.problem} />
    </FormDialog>
  );
}

function usePublish(props: Parameters<typeof PublishDialog>[0]) {
  const { draft, replaces, close, replaced } = props;
  const tariffs = useClient(TariffService);
  return useAction(async (form: FormData) => {
    const at = timeIn(form);
    const request = { draft: draft.id, etag: draft.etag, replaces };
    const more = { note: optionalTextOf(form, "note"), effectiveAt: at && timestampFromDate(at) };
    try {
      const { data, published } = await tariffs.publishTariff(
        { ...request, ...more },
        { timeoutMs: PUBLISH_TIMEOUT_MS },
      );
      toast(
        at && published
          ? `Version ${data!.version} takes effect ${timeText(at)}.`
          : publishedText(data!.version, published),
      );
    } catch (error) {
      const { reason } = problemOf(error);
      if (reason === "TARIFF_REPLACED") replaced();
      if (reason !== "TARIFF_FAULTY") throw error;
      close();
      changeQuery({ check: "on" }, { replace: true });
      toast("It cannot be published: it has faults.");
      return;
    }
    navigate(paths.tariff({}));
  });
}

/**
 * The time that was chosen; undefined for now.
 *
 * @throws ConnectError about `effective_at` when it is missing or past, which would publish at once
 */
function timeIn(form: FormData): Date | undefined {
  if (textOf(form, "when") !== "later") return undefined;
  const date = new Date(textOf(form, "effective_at"));
  if (date.getTime() > Date.now()) return date;
  throw fieldError("effective_at", "Choose a time to come.");
}
