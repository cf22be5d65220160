import { Code, ConnectError } from "@connectrpc/connect";
import { type TariffFees, type TariffVersion, TariffVersionState } from "../../../gen/shipments/admin/v1/tariff_pb.js";
import { TariffService } from "../../../gen/shipments/admin/v1/tariff_service_pb.js";
import { useClient } from "../api/clients.ts";
import { type Query, useQuery, useRpc } from "../api/use-query.ts";
import { paths } from "../routes/paths.ts";
import { Badge, type Label, DescriptionList } from "../ui/description-list.tsx";
import { LinkButton } from "../ui/button.tsx";
import { moneyText, numberText } from "../ui/format.ts";
import { Section, QueryView } from "../ui/page.tsx";
import { SumTable } from "../ui/sum-table.tsx";
import { Time } from "../ui/values.tsx";
import { RATE_DECIMALS } from "./draft-fields.ts";
import { SchedulesView } from "./schedule-view.tsx";
import { Download, TariffMap, versionZonesPath, zonesText } from "./tariff-zones.tsx";
import "./tariffs.css";

/** Loads the tariff in force. The data is null if no tariff is published. */
export function useTariffInForce(): Query<TariffVersion | null> {
  const tariffs = useClient(TariffService);
  return useQuery(
    async (signal) => {
      try {
        return (await tariffs.getTariffInForce({}, { signal })).data ?? null;
      } catch (error) {
        if (ConnectError.from(error).code === Code.NotFound) return null;
        throw error;
      }
    },
    [tariffs],
  );
}

const STATES: Readonly<Record<TariffVersionState, Label>> = {
  [TariffVersionState.UNSPECIFIED]: ["Unknown", "neutral"],
  [TariffVersionState.SCHEDULED]: ["Scheduled", "attention"],
  [TariffVersionState.IN_FORCE]: ["In force", "good"],
  [TariffVersionState.REPLACED]: ["Replaced", "neutral"],
  [TariffVersionState.CALLED_OFF]: ["Cancelled", "bad"],
};

export function VersionBadge({ state }: { readonly state: TariffVersionState }) {
  const [text, tone] = STATES[state] ?? STATES[TariffVersionState.UNSPECIFIED];
  return <Badge tone={tone}>{text}</Badge>;
}

export function comparisonPath(from: number, to: number): string {
  return paths.tariffComparison({}, { from_version: String(from), to_version: String(to) });
}

export function NewDraftLink({ version }: { readonly version: number }) {
  return <LinkButton href={paths.tariffDrafts({}, { new: String(version) })}>New draft from this version</LinkButton>;
}

export function TariffView({ version }: { readonly version: TariffVersion }) {
  const { version: number, fees } = version;
  const path = versionZonesPath(number);
  return (
    <div class="columns">
      <div>
        <Section title={`Zones of version ${number}`} actions={<Download path={path} name={`zones-${number}`} />}>
          <TariffMap label={`Zones of version ${number}`} layer={{ name: `Version ${number}`, tone: "zone", path }} />
        </Section>
        <VersionSchedules version={number} />
      </div>
      <div>
        <Section title={`Version ${number}`}>
          <VersionFacts version={version} />
        </Section>
        {fees && (
          <Section title="Fees and tiers">
            <FeesView fees={fees} />
          </Section>
        )}
      </div>
    </div>
  );
}

/** Shows a version's schedules. Hidden if there are none. */
function VersionSchedules({ version }: { readonly version: number }) {
  const query = useRpc(TariffService.method.getTariffVersionSchedules, { version });
  const { data, problem } = query;
  if (!problem && !data?.data?.schedules.length) return null;
  return (
    <Section title="Schedules">
      <QueryView query={query}>{(loaded) => <SchedulesView schedules={loaded.data!} />}</QueryView>
    </Section>
  );
}

function VersionFacts({ version }: { readonly version: TariffVersion }) {
  const { calledOffAt, replaces, repeats, honoursQuotes } = version;
  const isCalledOff = version.state === TariffVersionState.CALLED_OFF;
  return (
    <DescriptionList
      items={[
        ["State", <VersionBadge state={version.state} />],
        [isCalledOff ? "Scheduled for" : "Effective", <Time at={version.effectiveAt} exact />],
        ["Published", <Time at={version.publishedAt} exact />],
        ["By", version.author ?? "—"],
        ["Note", version.note],
        ["Zones", zonesText(version.zones)],
        ["Replaces", replaces && <VersionLink version={replaces} />],
        ["Repeats", repeats && <VersionLink version={repeats} />],
        ["Earlier quotes", honoursQuotes ? undefined : "not honored"],
        ["Cancelled", calledOffAt && <Time at={calledOffAt} exact />],
      ]}
    />
  );
}

function VersionLink({ version }: { readonly version: number }) {
  return <a href={paths.tariffVersion({ version: String(version) })}>version {version}</a>;
}

/**
 * Shows a tariff's decimal as an amount in the browser's locale, with the exact text as title.
 * Invalid decimals or currencies, which drafts can have, are shown unchanged.
 */
function Fee({ text, currency }: { readonly text: string; readonly currency: string }) {
  if (text === "") return <>—</>;
  if (!/^\d+(\.\d+)?$/.test(text) || !/^[A-Z]{3}$/.test(currency)) return <>{text}</>;
  return (
    <data class="money" value={text} title={`${text} ${currency}`}>
      {moneyText(Number(text), currency, RATE_DECIMALS)}
    </data>
  );
}

export function FeesView({ fees }: { readonly fees: TariffFees }) {
  const { currency, tiers } = fees;
  const fee = (text: string) => <Fee text={text} currency={currency} />;
  return (
    <>
      <DescriptionList
        items={[
          ["Currency", currency || "—"],
          ["Minimum charge", fee(fees.baseFee)],
          ["Per kilometer", fee(fees.ratePerKm)],
        ]}
      />
      {tiers.length > 0 && (
        <SumTable
          label="Tiers"
          headings={["Weight, kg", "Flat fee", "Per kilogram"]}
          rows={tiers.map(({ minKg, maxKg, flatFee, ratePerKg }) => [
            `over ${numberText(minKg)} to ${numberText(maxKg)}`,
            fee(flatFee),
            fee(ratePerKg),
          ])}
        />
      )}
    </>
  );
}
