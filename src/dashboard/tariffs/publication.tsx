import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { useState } from "preact/hooks";
import { OperatorRole } from "../../../gen/shipments/admin/v1/operator_pb.js";
import type { TariffDraft, TariffVersion } from "../../../gen/shipments/admin/v1/tariff_pb.js";
import { TariffService } from "../../../gen/shipments/admin/v1/tariff_service_pb.js";
import { useClient } from "../api/clients.ts";
import { fieldError, problemOf } from "../api/problem.ts";
import { useOperatorRole } from "../api/session.ts";
import { paths } from "../routes/paths.ts";
import { changeQuery, navigate } from "../routes/router.ts";
import { Dialog, DialogButton, RpcButton } from "../ui/dialog.tsx";
import { CheckField, SelectField, TextAreaField, TextField } from "../ui/fields.tsx";
import { optionalTextOf, textOf } from "../ui/form-data.ts";
import { useFormProblem } from "../ui/form.tsx";
import { timeText } from "../ui/format.ts";
import { toast } from "../ui/toast.tsx";
import { Time } from "../ui/values.tsx";
import { ReplayEffect } from "./tariff-draft-replay.tsx";
import { comparisonPath } from "./tariff-view.tsx";

/** A button that cancels a scheduled version after confirmation. Hidden from users without permission. */
export function CancelSchedule(props: { readonly version: TariffVersion }) {
  const { version, effectiveAt } = props.version;
  if (!useOperatorRole(OperatorRole.OPERATOR)) return null;
  return (
    <RpcButton
      destructive
      button="Cancel…"
      method={TariffService.method.callOffTariff}
      title={`Cancel version ${version}?`}
      submit="Cancel version"
      tone="danger"
      request={{ version }}
      done={`Version ${version} cancelled.`}
    >
      <p>
        It will not take effect <Time at={effectiveAt} exact />. The version in force does not change. The cancelled
        version stays listed and can be copied to a draft.
      </p>
    </RpcButton>
  );
}

interface RollBackProps {
  readonly version: number;
  readonly inForce: number;
  /** Called if another version has taken effect. */
  readonly replaced: () => void;
}

/** A button that republishes a version after confirmation. Hidden from users without permission. */
export function RollBack(props: RollBackProps) {
  if (!useOperatorRole(OperatorRole.OPERATOR)) return null;
  return <DialogButton dialog={<RollBackDialog {...props} />}>Roll back to this…</DialogButton>;
}

function RollBackDialog({ version, inForce, replaced }: RollBackProps) {
  const tariffs = useClient(TariffService);
  const { replaces, noteReplaced } = useReplaces(inForce, replaced);
  return (
    <Dialog
      title={`Roll back to version ${version}?`}
      submit="Roll back now"
      tone="danger"
      run={async (form, _, isShown) => {
        const request = { version, replaces, ...notesIn(form) };
        const { data, published } = await tariffs.rollBackTariff(request).catch(noteReplaced);
        toast(publishedText(data!.version, published));
        if (isShown.current) navigate(paths.tariff({}));
      }}
    >
      <p>
        Version {version} is published again as the next version. It replaces version {replaces}. It takes effect at
        once.
      </p>
      <PublicationFields version={version} />
    </Dialog>
  );
}

/** Tracks the version that a publication replaces. A refusal updates it. */
function useReplaces(inForce: number, replaced: () => void) {
  const [replaces, setReplaces] = useState(inForce);
  const noteReplaced = (error: unknown): never => {
    const { reason, facts } = problemOf(error);
    if (reason === "TARIFF_REPLACED") {
      setReplaces(Number(facts.version_in_force ?? 0));
      replaced();
    }
    throw error;
  };
  return { replaces, noteReplaced };
}

const WHEN = [
  ["now", "Now"],
  ["later", "At a time"],
] as const;

interface PublishProps {
  readonly draft: TariffDraft;
  /** Version in force, or 0 if no tariff is published. */
  readonly inForce: number;
  readonly replaced: () => void;
}

export function PublishDialog({ draft, inForce, replaced }: PublishProps) {
  const { replaces, noteReplaced } = useReplaces(inForce, replaced);
  const [when, setWhen] = useState<string>("now");
  const publish = usePublish(draft, replaces);
  return (
    <Dialog
      title={`Publish ${draft.name}?`}
      submit={when === "now" ? "Publish now" : "Schedule"}
      run={(form, _, isShown) => publish(form, isShown).catch(noteReplaced)}
    >
      <p>
        {replaces === 0 ? "It becomes the first tariff in force." : `It replaces version ${replaces}.`} All replicas use
        it within a second. The draft is deleted.
      </p>
      <SelectField name="when" label="When" value={when} choices={WHEN} onInput={setWhen} />
      {when === "later" && (
        <TextField
          name="effective_at"
          label="Takes effect"
          type="datetime-local"
          hint="In your time zone, within a year. No other version can be published before then."
        />
      )}
      {inForce > 0 && <ReplayEffect draft={draft} />}
      <PublicationFields />
    </Dialog>
  );
}

/** Publishing timeout, in milliseconds. Zones can have 64 MB. */
const PUBLISH_TIMEOUT_MS = 300_000;

function usePublish(draft: TariffDraft, replaces: number) {
  const tariffs = useClient(TariffService);
  return async (form: FormData, isShown: { readonly current: boolean }) => {
    const at = timeIn(form);
    const request = {
      draft: draft.id,
      etag: draft.etag,
      replaces,
      effectiveAt: at && timestampFromDate(at),
      ...notesIn(form),
    };
    try {
      const { data, published } = await tariffs.publishTariff(request, { timeoutMs: PUBLISH_TIMEOUT_MS });
      toast(
        at && published
          ? `Version ${data!.version} takes effect ${timeText(at)}.`
          : publishedText(data!.version, published),
      );
    } catch (error) {
      if (problemOf(error).reason !== "TARIFF_FAULTY") throw error;
      if (isShown.current) changeQuery({ check: "on" }, { replace: true });
      toast("The draft has errors. Fix them to publish it.");
      return;
    }
    if (isShown.current) navigate(paths.tariff({}));
  };
}

/**
 * Returns the chosen time, or `undefined` for now.
 *
 * @throws ConnectError about `effective_at` if the time is missing or past, because the service
 * would publish immediately for a past time
 */
function timeIn(form: FormData): Date | undefined {
  if (textOf(form, "when") !== "later") return undefined;
  const date = new Date(textOf(form, "effective_at"));
  if (date.getTime() > Date.now()) return date;
  throw fieldError("effective_at", "Choose a time in the future.");
}

/** The last fields of a publication, with a link if another version than `version` has taken effect. */
function PublicationFields({ version }: { readonly version?: number }) {
  const problem = useFormProblem();
  const current = problem?.reason === "TARIFF_REPLACED" ? problem.facts.version_in_force : undefined;
  return (
    <>
      <CheckField
        name="honours_quotes"
        label="Honor earlier quotes"
        checked
        hint="They keep their price for up to an hour. Otherwise bookings with them are refused."
      />
      <TextAreaField name="note" label="Note" hint="The reason for this version." optional />
      {current !== undefined && (
        <p>
          <a
            href={version ? comparisonPath(Number(current), version) : paths.tariffVersion({ version: current })}
            target="_blank"
            rel="noreferrer"
          >
            Check the tariff now in force (version {current})
          </a>{" "}
          before you continue. The button replaces it.
        </p>
      )}
    </>
  );
}

function notesIn(form: FormData) {
  return { note: optionalTextOf(form, "note"), honoursQuotes: form.has("honours_quotes") };
}

function publishedText(version: number, published: boolean): string {
  return published
    ? `Version ${version} is in force.`
    : `Version ${version}, which is in force, is identical. No new version was published.`;
}
