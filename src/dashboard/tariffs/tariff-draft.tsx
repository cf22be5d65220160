import { useMemo } from "preact/hooks";
import { OperatorRole } from "../../../gen/shipments/admin/v1/operator_pb.js";
import type { TariffDraft, TariffVersion } from "../../../gen/shipments/admin/v1/tariff_pb.js";
import {
  TariffService,
  type CheckTariffResponse,
} from "../../../gen/shipments/admin/v1/tariff_service_pb.js";
import { useClient } from "../api/clients.ts";
import { useOperatorRole } from "../api/session.ts";
import { type Query, useQuery } from "../api/use-query.ts";
import { Button } from "../ui/button.tsx";
import { DetailPage } from "../ui/detail-page.tsx";
import { Dialog, DialogButton } from "../ui/dialog.tsx";
import { Section } from "../ui/page.tsx";
import { recordIdOf } from "../ui/format.ts";
import { ProblemNote, Spinner } from "../ui/query-view.tsx";
import { type SortedFaults, sortFaults } from "./draft-faults.ts";
import { FeesView, useTariffInForce } from "./tariff-view.tsx";
import { zonesText } from "./tariff-zones.tsx";
import { toast } from "../ui/toast.tsx";
import { paths } from "../routes/paths.ts";
import { changeQuery, navigate, usePlace } from "../routes/router.ts";
import { DraftForm } from "./tariff-draft-form.tsx";
import { PublishDraft } from "./publication.tsx";
import { DraftReplay } from "./tariff-draft-replay.tsx";
import { DraftZones, FaultList } from "./tariff-draft-zones.tsx";
import "./tariffs.css";

/** How long a check may take, in milliseconds: zones can have 64 MB. */
const CHECK_TIMEOUT_MS = 300_000;

/** One draft: its fees and zones, what is wrong with it, what it would change, and its publication. */
export function TariffDraftPage(props: { readonly draft: string }) {
  const tariffs = useClient(TariffService);
  const draft = recordIdOf(props.draft) ?? 0n;
  const query = useQuery(
    (signal) => tariffs.getTariffDraft({ draft }, { signal }),
    [tariffs, draft],
  );
  const inForce = useTariffInForce();
  const mayChange = useOperatorRole(OperatorRole.OPERATOR);
  return (
    <DetailPage
      query={query}
      up={{ label: "Drafts", href: paths.tariffDrafts({}) }}
      what="draft"
      title={({ name }) => name}
      fallbackTitle="Draft"
      missing="It has been published or deleted. Versions stand on the tariff’s page."
      unlinked
      actions={(found) =>
        mayChange && (
          <>
            <DeleteDraft draft={found} />
            <PublishDraft draft={found} inForce={inForce} />
          </>
        )
      }
    >
      {(found) => (
        <Draft draft={found} inForce={inForce.data} mayChange={mayChange} reload={query.reload} />
      )}
    </DetailPage>
  );
}

const NO_FAULTS: SortedFaults = { fees: [], zones: [] };

function Draft(props: {
  readonly draft: TariffDraft;
  readonly inForce: TariffVersion | null | undefined;
  readonly mayChange: boolean;
  readonly reload: () => void;
}) {
  const { draft, inForce, mayChange, reload } = props;
  const check = useCheck(draft);
  const faults = useMemo(
    () => (check.data === undefined ? NO_FAULTS : sortFaults(check.data.faults)),
    [check.data],
  );
  return (
    <>
      <Check query={check} faults={faults} />
      <div class="columns halves">
        <div>
          <Section title="Fees and tiers">
            {mayChange ? (
              <DraftForm draft={draft} faults={faults.fees} changed={reload} />
            ) : (
              <>
                {draft.fees && <FeesView fees={draft.fees} />}
                <FaultList label="Faults of fees and tiers" faults={faults.fees} />
              </>
            )}
          </Section>
        </div>
        <div>
          <DraftZones
            draft={draft}
            inForce={inForce?.version}
            faults={faults.zones}
            mayChange={mayChange}
            changed={reload}
          />
        </div>
      </div>
      <DraftReplay draft={draft} />
    </>
  );
}

/** What is wrong with a draft, as it is now; undefined as long as nobody asked, which the address tells. */
function useCheck(draft: TariffDraft): Query<CheckTariffResponse | undefined> {
  const tariffs = useClient(TariffService);
  const isRequested = usePlace().query.get("check") !== null;
  return useQuery(
    async (signal) =>
      isRequested
        ? tariffs.checkTariff({ draft: draft.id }, { signal, timeoutMs: CHECK_TIMEOUT_MS })
        : undefined,
    [tariffs, isRequested, draft.etag],
  );
}

function Check(props: {
  readonly query: Query<CheckTariffResponse | undefined>;
  readonly faults: SortedFaults;
}) {
  const { data, problem, isLoading, reload } = props.query;
  const isRequested = usePlace().query.get("check") !== null;
  return (
    <div class="check">
      <Button
        busy={isRequested && isLoading}
        onClick={() => (isRequested ? reload() : changeQuery({ check: "on" }, { replace: true }))}
      >
        {isRequested ? "Check again" : "Check the draft"}
      </Button>
      <div role="status">
        {problem ? (
          <ProblemNote problem={problem} />
        ) : isRequested && isLoading ? (
          <Spinner label="Checking" />
        ) : data === undefined ? (
          <p class="minor">A check finds everything that is wrong, and shows it at its place.</p>
        ) : (
          <p class={data.faults.length > 0 ? "field-error" : undefined}>
            {checkedText(data, props.faults)}
          </p>
        )}
      </div>
    </div>
  );
}

/** What a check came to, in words. */
function checkedText(checked: CheckTariffResponse, { fees, zones }: SortedFaults): string {
  const { faults } = checked;
  if (faults.length > 0) {
    return `${counted(faults.length, "fault")}: ${fees.length} in fees and tiers, ${zones.length} in zones.`;
  }
  const size = `${counted(checked.tiers, "tier")} and ${zonesText(checked.zones)}`;
  return checked.sameAsInForce
    ? `No faults, ${size}. It says the same as the tariff in force.`
    : `No faults, ${size}. It can be published.`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

function DeleteDraft({ draft }: { readonly draft: TariffDraft }) {
  const tariffs = useClient(TariffService);
  const dialog = (
    <Dialog
      title={`Delete the draft ${draft.name}?`}
      submit="Delete the draft"
      tone="danger"
      run={async () => {
        await tariffs.deleteTariffDraft({ draft: draft.id });
        toast(`The draft ${draft.name} is deleted.`);
        navigate(paths.tariffDrafts({}), { replace: true });
      }}
    >
      <p>Its fees and zones are gone for good.</p>
    </Dialog>
  );
  return <DialogButton dialog={dialog}>Delete…</DialogButton>;
}
