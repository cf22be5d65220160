import { useEffect, useMemo } from "preact/hooks";
import { OperatorRole } from "../../../gen/shipments/admin/v1/operator_pb.js";
import type { TariffDraft, TariffVersion } from "../../../gen/shipments/admin/v1/tariff_pb.js";
import { TariffService, type CheckTariffResponse } from "../../../gen/shipments/admin/v1/tariff_service_pb.js";
import { useOperatorRole } from "../api/session.ts";
import { useCall } from "../api/clients.ts";
import { reloads } from "../api/use-action.ts";
import { type Query, shownWith, useQuery, useRpc } from "../api/use-query.ts";
import { Button } from "../ui/button.tsx";
import { DetailPage, Section, ProblemNote, Spinner } from "../ui/page.tsx";
import { lazily } from "../ui/lazily.tsx";
import { More } from "../ui/menu.tsx";
import { openDialog, RpcButton } from "../ui/dialog.tsx";
import { SubmitButton } from "../ui/form.tsx";
import { recordIdOf } from "../ui/format.ts";
import { type SortedFaults, sortFaults } from "./draft-faults.ts";
import { FeesView, useTariffInForce } from "./tariff-view.tsx";
import { zonesText } from "./tariff-zones.tsx";
import { type ParametersOf, paths } from "../routes/paths.ts";
import { changeQuery, navigate, useLocation } from "../routes/router.ts";
import { DraftForm } from "./tariff-draft-form.tsx";
import type { LoadedDraft } from "./draft-fields.ts";
import { SchedulesView } from "./schedule-view.tsx";
import { DraftZones, FaultList } from "./tariff-draft-zones.tsx";
import { loadDraft, useUnsaved } from "./draft-text.tsx";
import "./tariffs.css";

const PublishDialog = lazily(() => import("./publication.tsx"), "PublishDialog");
const DraftReplay = lazily(() => import("./tariff-draft-replay.tsx"), "DraftReplay");

/** Check timeout, in milliseconds. Zones can have 64 MB. */
const CHECK_TIMEOUT_MS = 300_000;

export function TariffDraftPage(props: ParametersOf<"tariffDraft">) {
  const draft = recordIdOf(props.draft) ?? 0n;
  const call = useCall();
  const query = useQuery(async (signal) => ({ data: await loadDraft(call, draft, signal) }), [call, draft]);
  useEffect(() => reloads.subscribe(query.reload), [query.reload]);
  const inForce = useTariffInForce();
  const mayChange = useOperatorRole(OperatorRole.OPERATOR);
  return (
    <DetailPage
      query={shownWith(query, inForce)}
      up={{ label: "Drafts", href: paths.tariffDrafts({}) }}
      what="draft"
      title={(loaded) => loaded.draft.name}
      fallbackTitle="Draft"
      missing="It has been published or deleted. The Tariff page lists all versions."
      unlinked
      actions={(loaded) =>
        mayChange && (
          <More>
            <DeleteDraft draft={loaded.draft} />
          </More>
        )
      }
    >
      {(loaded) => <Draft loaded={loaded} inForce={inForce} mayChange={mayChange} />}
    </DetailPage>
  );
}

const NO_FAULTS: SortedFaults = { fees: [], schedules: [], zones: [] };

function Draft(props: {
  readonly loaded: LoadedDraft;
  readonly inForce: Query<TariffVersion | null>;
  readonly mayChange: boolean;
}) {
  const { loaded, inForce, mayChange } = props;
  const { draft, schedules } = loaded;
  const [unsaved, noteUnsaved] = useUnsaved();
  const check = useCheck(draft);
  const faults = useMemo(() => (check.data === undefined ? NO_FAULTS : sortFaults(check.data.faults)), [check.data]);
  return (
    <>
      <div class="columns halves">
        <div>
          {mayChange ? (
            <DraftForm {...{ loaded, faults, noteUnsaved }} inForce={inForce.data} />
          ) : (
            <>
              <Section title="Fees and tiers">
                {draft.fees && <FeesView fees={draft.fees} />}
                <FaultList label="Errors in fees and tiers" faults={faults.fees} />
              </Section>
              <Section title="Schedules">
                <SchedulesView schedules={schedules} />
                <FaultList label="Errors in schedules" faults={faults.schedules} />
              </Section>
            </>
          )}
        </div>
        <div>
          <DraftZones
            {...{ draft, schedules }}
            inForce={inForce.data?.version}
            faults={faults.zones}
            {...{ mayChange, noteUnsaved }}
          />
        </div>
      </div>
      <DraftReplay draft={draft} />
      <div class="page-bar">
        <CheckNote query={check} faults={faults} isUnsaved={unsaved.length > 0} />
        <div class="actions">
          {unsaved.length === 0 && <CheckButton query={check} />}
          {unsaved.map((form, i) => (
            <SubmitButton key={form.id} {...form} form={form.id} tone={i === 0 ? "primary" : "plain"} />
          ))}
          {mayChange && unsaved.length === 0 && <PublishButton draft={draft} inForce={inForce} />}
        </div>
      </div>
    </>
  );
}

function PublishButton(props: { readonly draft: TariffDraft; readonly inForce: Query<TariffVersion | null> }) {
  const { draft } = props;
  const { data: inForce, reload } = props.inForce;
  return (
    <Button
      primary
      disabled={inForce === undefined}
      onClick={() => openDialog(<PublishDialog draft={draft} inForce={inForce?.version ?? 0} replaced={reload} />)}
    >
      Publish…
    </Button>
  );
}

/** Checks the draft if the URL requests it. The data is `undefined` until then. */
function useCheck(draft: TariffDraft): Query<CheckTariffResponse | undefined> {
  const isRequested = useLocation().query.get("check") !== null;
  return useRpc(TariffService.method.checkTariff, isRequested ? { draft: draft.id } : undefined, {
    timeoutMs: CHECK_TIMEOUT_MS,
    version: draft.etag,
  });
}

function CheckButton({ query }: { readonly query: Query<CheckTariffResponse | undefined> }) {
  const isRequested = useLocation().query.get("check") !== null;
  return (
    <Button
      busy={isRequested && query.isLoading}
      onClick={() => (isRequested ? query.reload() : changeQuery({ check: "on" }, { replace: true }))}
    >
      {isRequested ? "Check again" : "Check draft"}
    </Button>
  );
}

/** Shows whether the draft is saved, and the result of its check. */
function CheckNote(props: {
  readonly query: Query<CheckTariffResponse | undefined>;
  readonly faults: SortedFaults;
  readonly isUnsaved: boolean;
}) {
  const { isUnsaved } = props;
  const { data, problem, isLoading } = props.query;
  const isRequested = useLocation().query.get("check") !== null;
  return (
    <div role="status">
      {isUnsaved && <p class="unsaved">There are unsaved changes. Checks use the saved version.</p>}
      {problem ? (
        <ProblemNote problem={problem} />
      ) : isRequested && isLoading ? (
        <Spinner label="Checking" />
      ) : data === undefined ? (
        !isUnsaved && <p class="minor">Saved. Run a check to find all errors.</p>
      ) : isUnsaved && data.faults.length === 0 ? null : (
        <p class={data.faults.length > 0 ? "field-error" : undefined}>
          {checkedText(data, props.faults)}{" "}
          {data.faults.length > 0 && (
            <Button quiet onClick={showFirstFault}>
              Show first
            </Button>
          )}
        </p>
      )}
      {data !== undefined && data.warnings.length > 0 && <Warnings warnings={data.warnings} />}
    </div>
  );
}

/** Shows the first warnings and the number of remaining ones. */
function Warnings({ warnings }: Pick<CheckTariffResponse, "warnings">) {
  const more = warnings.length - MAX_WARNINGS;
  return (
    <>
      <p>{counted(warnings.length, "warning")}:</p>
      <ul>
        {warnings.slice(0, MAX_WARNINGS).map(({ path, text }) => (
          <li key={path}>
            <code>{path}</code> {text}.
          </li>
        ))}
        {more > 0 && <li>and {more} more</li>}
      </ul>
    </>
  );
}

const MAX_WARNINGS = 5;

/** Moves to the first field with a fault, or to the first list of faults. */
function showFirstFault(): void {
  const faulty = 'main :is([aria-invalid="true"], .faults)';
  document.querySelector<HTMLElement>(faulty)?.focus();
}

function checkedText(checked: CheckTariffResponse, sorted: SortedFaults): string {
  const { fees, schedules, zones } = sorted;
  const { faults } = checked;
  if (faults.length > 0) {
    const parts = [
      [fees, "fees and tiers"],
      [schedules, "schedules"],
      [zones, "zones"],
    ] as const;
    const counts = parts.flatMap(([of, where]) => (of.length > 0 ? `${of.length} in ${where}` : []));
    return `${counted(faults.length, "error")}: ${counts.join(", ")}.`;
  }
  const size = `${counted(checked.tiers, "tier")} and ${zonesText(checked.zones)}`;
  return checked.sameAsInForce
    ? `No errors, ${size}. It is identical to the tariff in force.`
    : `No errors, ${size}. It can be published.`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

function DeleteDraft({ draft }: { readonly draft: TariffDraft }) {
  return (
    <RpcButton
      destructive
      button="Delete…"
      method={TariffService.method.deleteTariffDraft}
      title={`Delete draft ${draft.name}?`}
      submit="Delete draft"
      tone="danger"
      request={{ draft: draft.id }}
      done={`Draft ${draft.name} deleted.`}
      then={(_, isShown) => {
        if (isShown) navigate(paths.tariffDrafts({}), { replace: true });
      }}
    >
      <p>Its fees and zones are deleted permanently.</p>
    </RpcButton>
  );
}
