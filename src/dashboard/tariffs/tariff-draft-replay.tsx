import type { TariffDraft } from "../../../gen/shipments/admin/v1/tariff_pb.js";
import {
  TariffService,
  type PriceChange,
  type PriceChangeBucket,
  type TariffReplay,
} from "../../../gen/shipments/admin/v1/tariff_service_pb.js";
import { QuoteFailureType } from "../../../gen/shipments/v1/quote_pb.js";
import { useAccount } from "../api/session.ts";
import { useAction } from "../api/use-action.ts";
import type { Point } from "../ui/charts.tsx";
import { Empty, Section, QueryView, Spinner } from "../ui/page.tsx";
import { DescriptionList } from "../ui/description-list.tsx";
import { Form } from "../ui/form.tsx";
import { TextField } from "../ui/fields.tsx";
import { numberOf } from "../ui/form-data.ts";
import { lazily } from "../ui/lazily.tsx";
import { moneyText, numberText } from "../ui/format.ts";
import { Money } from "../ui/values.tsx";
import { type Column, Table } from "../ui/table.tsx";
import { paths } from "../routes/paths.ts";
import { changeQuery, useLocation } from "../routes/router.ts";
import { useRpc } from "../api/use-query.ts";
import { numberFormat } from "../ui/intl.ts";

const PriceChanges = lazily(() => import("../ui/charts.tsx"), "BarList");

const REPLAY_TIMEOUT_MS = 300_000;
/** Default and maximum number of recent shipments to reprice. */
const DEFAULT_SHIPMENTS = 1_000;
const MAX_SHIPMENTS = 10_000;

/** Reprices the latest shipments with a draft. The data is `undefined` without their number. */
function useReplay(draft: TariffDraft, shipments: number | undefined) {
  return useRpc(
    TariffService.method.replayTariff,
    shipments === undefined ? undefined : { draft: draft.id, shipments },
    { timeoutMs: REPLAY_TIMEOUT_MS, version: draft.etag },
  );
}

/** Shows the effect of a draft on the latest shipments before it is published. */
export function ReplayEffect({ draft }: { readonly draft: TariffDraft }) {
  const replay = useReplay(draft, DEFAULT_SHIPMENTS);
  if (replay.data === undefined && replay.isLoading) return <Spinner label="Pricing the latest shipments" />;
  return (
    <QueryView query={replay}>
      {(data) =>
        data?.shipments !== undefined &&
        data.shipments.routes > 0 && <Sums replay={data.shipments} inForce={data.inForce} />
      }
    </QueryView>
  );
}

export function DraftReplay({ draft }: { readonly draft: TariffDraft }) {
  const requested = useLocation().query.get("replay");
  const shipments = requested === null ? undefined : Math.min(Number(requested) || DEFAULT_SHIPMENTS, MAX_SHIPMENTS);
  const replay = useReplay(draft, shipments);
  const start = useAction(async (form: FormData) => {
    const number = numberOf(form, "shipments") || DEFAULT_SHIPMENTS;
    const text = String(Math.min(Math.max(Math.trunc(number), 1), MAX_SHIPMENTS));
    if (text === requested) replay.reload();
    else changeQuery({ replay: text }, { replace: true });
  });
  return (
    <Section title="Replay">
      <div class="inline-form replay">
        <Form action={start} submit="Replay" tone="plain">
          <TextField
            name="shipments"
            label="Latest shipments of all workspaces"
            numeric
            value={requested ?? DEFAULT_SHIPMENTS}
            hint={`Up to ${numberText(MAX_SHIPMENTS)}. Each is priced with the tariff in force and with the last saved draft.`}
          />
        </Form>
      </div>
      <QueryView query={replay}>
        {(data) =>
          data?.shipments === undefined ? (
            shipments !== undefined && <Spinner label="Replaying" />
          ) : (
            <Replay replay={data.shipments} inForce={data.inForce} />
          )
        }
      </QueryView>
    </Section>
  );
}

function Replay({ replay, inForce }: { readonly replay: TariffReplay; readonly inForce: number }) {
  const { currencyInForce, currencyOfDraft, largest } = replay;
  if (replay.routes === 0) {
    return <Empty title="No shipments yet">A replay prices existing shipments.</Empty>;
  }
  const isComparable = currencyInForce === currencyOfDraft;
  return (
    <>
      <Refused replay={replay} />
      {replay.slotFull > 0 && (
        <p class="problem attention" role="alert">
          {replay.slotFull === 1
            ? "1 shipment would have been refused because its slot was full."
            : `${numberText(replay.slotFull)} shipments would have been refused because their slot was full.`}
        </p>
      )}
      <div class="columns halves">
        <div>
          <Sums replay={replay} inForce={inForce} />
          {!isComparable && (
            <p class="problem">
              Prices are not compared: they are in {currencyInForce} now and would be in {currencyOfDraft}.
            </p>
          )}
        </div>
        <div>
          {isComparable && <PriceChanges label="Shipments by price change" points={replay.distribution.map(pointOf)} />}
        </div>
      </div>
      {largest.length > 0 && <Changes title="Largest changes" changes={largest} currency={currencyOfDraft} />}
    </>
  );
}

/** Reasons why a route is not served, with the hardest to fix first. */
const REASONS: readonly (readonly [type: QuoteFailureType, reason: string])[] = [
  [QuoteFailureType.COVERAGE, "outside the zones"],
  [QuoteFailureType.WEIGHT, "no tier covers the weight"],
  [QuoteFailureType.WINDOW, "the window cannot be booked"],
];

/** Shows the shipments served now that the draft would refuse, by reason. */
function Refused({ replay: { newlyRefused, refused, currencyInForce } }: { readonly replay: TariffReplay }) {
  if (newlyRefused === 0) return null;
  const one = newlyRefused === 1;
  return (
    <div class="problem refused" role="alert">
      <p>
        <strong>
          {numberText(newlyRefused)} {one ? "shipment" : "shipments"} would no longer be served.
        </strong>
        {newlyRefused > refused.length && refused.length > 0 && (
          <> The newest {numberText(refused.length)} are below.</>
        )}
      </p>
      {REASONS.map(([type, reason]) => {
        const changes = refused.filter(({ failureType }) => failureType === type);
        if (changes.length === 0) return null;
        return (
          <details key={type}>
            <summary>
              {numberText(changes.length)}: {reason}
            </summary>
            <Changes title={`No longer served: ${reason}`} changes={changes} currency={currencyInForce} />
          </details>
        );
      })}
    </div>
  );
}

function Sums({ replay, inForce }: { readonly replay: TariffReplay; readonly inForce: number }) {
  const { totalInForce: before, totalOfDraft: after, currencyOfDraft: currency } = replay;
  const isComparable = replay.currencyInForce === currency;
  const money = (amount: number) => (isComparable ? <Money amount={amount} currency={currency} /> : undefined);
  return (
    <DescriptionList
      items={[
        ["Shipments", numberText(replay.routes)],
        ["Served by both", numberText(replay.servedByBoth)],
        ["Served only by the draft", numberText(replay.newlyCovered)],
        ["No longer served", numberText(replay.newlyRefused)],
        ["Served by neither", numberText(servedByNeither(replay))],
        [`By version ${inForce}`, money(before)],
        ["In the draft", money(after)],
        [
          "Change",
          isComparable ? (
            <>
              {signedMoney(after - before, currency)}
              {before > 0 && ` (${signed((after / before - 1) * 100, 1)} %)`}
            </>
          ) : undefined,
        ],
      ]}
    />
  );
}

function servedByNeither({ routes, servedByBoth, newlyCovered, newlyRefused }: TariffReplay): number {
  return routes - servedByBoth - newlyCovered - newlyRefused;
}

function pointOf({ abovePercent, upToPercent, routes }: PriceChangeBucket): Point {
  const text = numberText(routes);
  return { label: bucketLabel(abovePercent, upToPercent), value: routes, text };
}

/** Formats a range of price changes, such as `−10 to −5 %`. */
function bucketLabel(above: number | undefined, upTo: number | undefined): string {
  if (above === 0 && upTo === 0) return "Unchanged";
  if (above === undefined) return `${signed(upTo!)} % or lower`;
  if (upTo === undefined) return `Above ${signed(above)} %`;
  return `${signed(above)} to ${signed(upTo)} %`;
}

function signed(value: number, maximumFractionDigits = 3): string {
  const format = { signDisplay: "exceptZero", maximumFractionDigits } as const;
  return numberFormat(undefined, format).format(value);
}

function signedMoney(amount: number, currency: string): string {
  return `${amount > 0 ? "+" : ""}${moneyText(amount, currency)}`;
}

function Changes(props: {
  readonly title: string;
  readonly changes: readonly PriceChange[];
  readonly currency: string;
}) {
  const { title, changes, currency } = props;
  return (
    <div class="changes">
      <h3>{title}</h3>
      <Table
        label={title}
        columns={changeColumns(currency)}
        rows={changes}
        keyOf={({ workspace, shipment }) => `${workspace} ${shipment}`}
      />
    </div>
  );
}

function changeColumns(currency: string): readonly Column<PriceChange>[] {
  const money = (amount: number | undefined) =>
    amount === undefined ? "—" : <Money amount={amount} currency={currency} />;
  return [
    { header: "Shipment", selfEvident: true, cell: (change) => <ShipmentLink change={change} /> },
    {
      header: "Workspace",
      cell: ({ workspace }) => <a href={paths.platformWorkspace({ workspace })}>{String(workspace)}</a>,
    },
    { header: "In force", align: "end", cell: ({ totalInForce }) => money(totalInForce) },
    {
      header: "Draft",
      align: "end",
      cell: ({ totalOfDraft, message }) => message ?? money(totalOfDraft),
    },
    {
      header: "Change",
      align: "end",
      cell: ({ totalInForce, totalOfDraft }) =>
        totalInForce === undefined || totalOfDraft === undefined
          ? "—"
          : signedMoney(totalOfDraft - totalInForce, currency),
    },
  ];
}

/** A link to a shipment for members of its workspace. Other users see only the reference. */
function ShipmentLink({ change }: { readonly change: PriceChange }) {
  const { workspace, shipment: reference } = change;
  const { workspaces } = useAccount();
  const text = <code>{reference}</code>;
  if (!workspaces.some(({ id }) => id === workspace)) return text;
  return <a href={paths.shipment({ workspace, reference })}>{text}</a>;
}
