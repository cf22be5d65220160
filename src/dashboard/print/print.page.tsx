import type { Client } from "@connectrpc/connect";
import { CoverageService } from "../../../gen/shipments/v1/coverage_service_pb.js";
import { CustomerService } from "../../../gen/shipments/v1/customer_service_pb.js";
import { DropoffHandover, type Shipment, PaymentStatus } from "../../../gen/shipments/v1/shipment_pb.js";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { useClient } from "../api/clients.ts";
import { useQuery } from "../api/use-query.ts";
import { paths, type ParametersOf } from "../routes/paths.ts";
import { useLocation, changeQuery } from "../routes/router.ts";
import { HANDOVERS } from "../shipments/delivery-choices.ts";
import { bookedWindows, hoursText, windowText } from "../shipments/windows.ts";
import { dateOf, numberText, type Instant } from "../ui/format.ts";
import { Empty, Page, type Link, QueryView } from "../ui/page.tsx";
import { QrCode } from "../ui/qr-code.tsx";
import { useTimeZone, useWorkspace } from "../api/session.ts";
import { countText, inParts } from "../shipments/newest-shipments.ts";
import { dayText, LinkChoice, today } from "../ui/days.tsx";
import { TextField } from "../ui/fields.tsx";
import { filterValues } from "../ui/filters.tsx";
import { EventService } from "../../../gen/shipments/v1/event_service_pb.js";
import { pointAt } from "../shipments/route.ts";
import { PriceTable } from "../shipments/price-table.tsx";
import { isPaid } from "../shipments/shipment-badge.tsx";
import { DescriptionList } from "../ui/description-list.tsx";
import { Money } from "../ui/values.tsx";
import type { ComponentChildren } from "preact";
import { Button } from "../ui/button.tsx";
import { dayOf, groupPickups, loadManifest } from "./manifest.ts";
import { dateFormat } from "../ui/intl.ts";
import "./print.css";

/** Maximum number of labels. The list's selection and the points per request have the same limit. */
const MAX_SHEETS = 100;

/** Prints labels for the shipments in the URL's `shipment` parameters, without duplicates. */
export function LabelsPage() {
  const { query } = useLocation();
  const chosen = new Set(query.getAll("shipment"));
  const references = [...chosen].slice(0, MAX_SHEETS);
  const { labels, details } = useLabels(references);
  const [only] = references;
  const up =
    only !== undefined && references.length === 1
      ? { label: only, href: paths.shipment({ reference: only }) }
      : { label: "Shipments", href: paths.shipments() };
  return (
    <PrintPage
      title={references.length === 1 ? "Label" : "Labels"}
      up={up}
      isReady={details !== undefined}
      sheets={
        references.length === 0 ? (
          <Empty title="No shipments selected" link={up}>
            Select shipments in the list, then print their labels.
          </Empty>
        ) : (
          <QueryView query={labels}>
            {(all) => all.map((it, i) => <Label key={it.reference} shipment={it} details={details?.[i]} />)}
          </QueryView>
        )
      }
    >
      {chosen.size > MAX_SHEETS && (
        <p class="problem attention">
          Only the first {MAX_SHEETS} of {chosen.size} selected shipments are shown. Select the rest and print them
          separately.
        </p>
      )}
    </PrintPage>
  );
}

/** Details that a shipment does not include: the customer's phone number, and the name of the dropoff's zone. */
interface LabelDetails {
  readonly phone: string | undefined;
  readonly zone: string | undefined;
}

/** Loads shipments, then the details of their labels. The sheets do not wait for the details. */
function useLabels(references: readonly string[]) {
  const client = useClient(ShipmentService);
  const people = useClient(CustomerService);
  const coverage = useClient(CoverageService);
  const shipments = useQuery(
    async (signal) => {
      const found = await Promise.all(references.map((shipment) => client.getShipment({ shipment }, { signal })));
      return found.map(({ data }) => data!);
    },
    [client, references.join()],
  );
  const all = shipments.data;
  const details = useQuery(
    async (signal): Promise<readonly LabelDetails[]> => {
      if (!all?.length) return [];
      const ids = [...new Set(all.map(({ customer }) => customer!.id))];
      const points = all.map((it) => pointAt(it, "dropoff"));
      const [zones, customers] = await Promise.all([
        findZoneNames(coverage, points, signal),
        Promise.all(ids.map((customer) => people.getCustomer({ customer }, { signal }))),
      ]);
      const phones = new Map(ids.map((id, i) => [id, customers[i]!.data!.phone]));
      return all.map(({ customer }, i) => ({ phone: phones.get(customer!.id), zone: zones[i] }));
    },
    [people, coverage, all?.map(({ reference, etag }) => `${reference} ${etag}`).join()],
  );
  return {
    labels: { ...shipments, problem: shipments.problem ?? details.problem },
    details: all && !details.isOutdated ? details.data : undefined,
  };
}

async function findZoneNames(
  client: Client<typeof CoverageService>,
  points: readonly { readonly lat: number; readonly lng: number }[],
  signal: AbortSignal,
): Promise<readonly (string | undefined)[]> {
  const parts = inParts(points, MAX_SHEETS);
  const found = await Promise.all(parts.map((part) => client.findZones({ points: part }, { signal })));
  return found.flatMap(({ data }) => data.map(({ zone }) => zone?.name));
}

function Label({ shipment, details }: { readonly shipment: Shipment; readonly details: LabelDetails | undefined }) {
  const { reference, pickupAddress, dropoffAddress, packageCount } = shipment;
  const { recipientName, recipientPhone, dropoffInstructions: instructions } = shipment;
  const isLeft = shipment.dropoffHandover === DropoffHandover.LEAVE_AT_DOOR;
  const name = recipientName ?? shipment.customer!.name;
  const { pickup, dropoff } = bookedWindows(shipment);
  return (
    <article class="sheet label" aria-label={`Label for ${reference}`}>
      <p>
        <small>From</small>
        <span style={fitted(pickupAddress)}>{pickupAddress}</span>
      </p>
      <p class="label-to">
        <small>To</small>
        <strong style={fitted(name)}>{name}</strong>
        {recipientPhone && <span>{recipientPhone}</span>}
        {recipientName === undefined && !recipientPhone && details?.phone && <span>{details.phone}</span>}
        <span style={fitted(dropoffAddress)}>{dropoffAddress}</span>
        {instructions && <em style={fitted(instructions)}>{instructions}</em>}
      </p>
      <DescriptionList
        items={[
          ["Zone", details ? details.zone : "…"],
          ["Weight", `${numberText(shipment.weightKg)} kg`],
          ["Packages", packageCount > 1 ? numberText(packageCount) : undefined],
          ["Handover", isLeft ? HANDOVERS[shipment.dropoffHandover] : undefined],
          ["Pick up", pickup ? windowText(pickup, shipment.pickupWindow?.timeZone) : "As soon as possible"],
          ["Deliver", dropoff && windowText(dropoff, shipment.dropoffWindow?.timeZone)],
          ["Your reference", shipment.externalReference],
        ]}
      />
      <QrCode text={reference} label={`QR code for ${reference}`} />
      <p class="label-reference">{reference}</p>
      {shipment.test && <p class="label-test">Test. Not for delivery.</p>}
    </article>
  );
}

/** Returns a font size that fits long texts into the space of 120 letters. */
function fitted({ length }: string) {
  return { fontSize: `max(7pt, ${Math.min(1, Math.sqrt(120 / length))}em)` };
}

const DAY = { day: { label: "Day of pickup", of: "day" } } as const;
const GROUPS = [
  ["", "By courier"],
  ["zone", "By zone"],
] as const;

export function ManifestPage() {
  const { query } = useLocation();
  const timeZone = useTimeZone();
  const now = today(timeZone);
  const { day = now } = filterValues(query, DAY);
  const isToday = day === now;
  const by = query.get("by") ?? "";
  const courierId = query.get("courier") ?? undefined;
  const client = useClient(ShipmentService);
  const coverage = useClient(CoverageService);
  const manifest = useQuery(
    async (signal) => {
      const shipments = await loadManifest(client, { day, isToday, courierId }, signal);
      if (by !== "zone") return { day, groups: groupPickups(shipments), none: "No courier" };
      const points = shipments.map((it) => pointAt(it, "pickup"));
      const names = await findZoneNames(coverage, points, signal);
      const zones = new Map(shipments.map((shipment, i) => [shipment, names[i] ?? ""]));
      return { day, groups: groupPickups(shipments, zones), none: "No zone" };
    },
    [client, coverage, day, isToday, by, courierId],
  );
  return (
    <PrintPage
      title="Manifest"
      up={
        courierId === undefined
          ? { label: "Shipments", href: paths.shipments() }
          : { label: "Courier", href: paths.courier({ courier: courierId }) }
      }
      sheets={<QueryView query={manifest}>{(loaded) => <ManifestSheet {...loaded} />}</QueryView>}
    >
      {/* Keep the typed text while it is not yet a valid day. */}
      <div class="list-bar" onInput={({ target }) => changeQuery(dayIn(target), { replace: true })}>
        <TextField label={DAY.day.label} name="day" type="date" value={day} />
        <LinkChoice label="Groups" name="by" choices={GROUPS} current={by} />
      </div>
    </PrintPage>
  );
}

function dayIn(field: EventTarget | null) {
  const { value } = field as HTMLInputElement;
  const { day } = filterValues(new URLSearchParams({ day: value }), DAY);
  return day === undefined ? {} : { day };
}

function ManifestSheet(props: {
  readonly day: string;
  readonly groups: ReturnType<typeof groupPickups>;
  /** Title of the group of shipments that have no courier or zone. */
  readonly none: string;
}) {
  const { day, groups, none } = props;
  const { name, isTest } = useWorkspace();
  if (groups.length === 0) {
    return (
      <Empty title={`No pickups on ${dayText(day, "full")}`}>
        A manifest lists the paid shipments waiting for the courier.
      </Empty>
    );
  }
  return (
    <article class="sheet manifest" aria-label="Manifest">
      <h2>
        {name}, {dayText(day, "full")}
      </h2>
      {isTest && <p>Test. Not for pickup.</p>}
      {groups.map(([group, own]) => (
        <Pickups key={group} title={group || none} shipments={own} day={day} />
      ))}
      <p class="signature">Courier, time and signature</p>
    </article>
  );
}

function Pickups(props: { readonly title: string; readonly shipments: readonly Shipment[]; readonly day: string }) {
  const { title, shipments, day } = props;
  const kilograms = shipments.reduce((sum, { weightKg }) => sum + weightKg, 0);
  return (
    <table>
      <caption>
        {title}: {countText(shipments.length)}, {numberText(kilograms)} kg
      </caption>
      <thead>
        <tr>
          <th scope="col">Stop</th>
          <th scope="col">Shipment</th>
          <th scope="col">Time</th>
          <th scope="col">From</th>
          <th scope="col">To</th>
        </tr>
      </thead>
      <tbody>
        {shipments.map((it) => (
          <Pickup key={it.reference} shipment={it} day={day} />
        ))}
      </tbody>
    </table>
  );
}

function Pickup({ shipment, day }: { readonly shipment: Shipment; readonly day: string }) {
  const { externalReference, packageCount, recipientPhone } = shipment;
  const packages = packageCount > 1 && `${numberText(packageCount)} packages`;
  const { pickupContactName, pickupContactPhone, pickupInstructions, dropoffInstructions } = shipment;
  return (
    <tr>
      <td class="tick">
        <span />
        {shipment.courier?.sequence}
      </td>
      <th scope="row">
        {shipment.reference}
        <small>
          {[`${numberText(shipment.weightKg)} kg`, packages, externalReference].filter(Boolean).join(" · ")}
        </small>
      </th>
      <td data-label="Time">{timeOf(shipment, day)}</td>
      <td data-label="From">
        {shipment.pickupAddress}
        <small>{[pickupContactName, pickupContactPhone].filter(Boolean).join(", ")}</small>
        <small>{pickupInstructions}</small>
      </td>
      <td data-label="To">
        {shipment.dropoffAddress}
        <small>{[shipment.recipientName ?? shipment.customer?.name, recipientPhone].filter(Boolean).join(", ")}</small>
        <small>{dropoffInstructions}</small>
      </td>
    </tr>
  );
}

/** Formats the hours of the pickup window, with its day if the pickup is overdue. */
function timeOf(shipment: Shipment, day: string): string {
  const { pickup } = bookedWindows(shipment);
  if (pickup === undefined) return "As soon as possible";
  const { timeZone } = shipment.pickupWindow!;
  return dayOf(shipment) < day ? `Late: ${windowText(pickup, timeZone)}` : hoursText(pickup, timeZone);
}

export function ReceiptPage({ reference }: ParametersOf<"receipt">) {
  const shipments = useClient(ShipmentService);
  const feed = useClient(EventService);
  const query = useQuery(
    async (signal) => {
      const [{ data: shipment }, { data: events }] = await Promise.all([
        shipments.getShipment({ shipment: reference }, { signal }),
        feed.listShipmentEvents({ shipment: reference, pageSize: 100 }, { signal }),
      ]);
      return { shipment: shipment!, paidAt: events.find(({ type }) => type === "shipment.paid")?.timestamp };
    },
    [shipments, feed, reference],
  );
  const up = { label: reference, href: paths.shipment({ reference }) };
  return (
    <PrintPage
      title="Receipt"
      up={up}
      sheets={
        <QueryView query={query}>
          {({ shipment, paidAt }) =>
            isPaid(shipment) ? (
              <Receipt shipment={shipment} paidAt={paidAt} />
            ) : (
              <Empty title="Not paid yet" link={{ ...up, label: "Show shipment" }}>
                The receipt is available once the shipment is paid.
              </Empty>
            )
          }
        </QueryView>
      }
    />
  );
}

function Receipt({ shipment, paidAt }: { readonly shipment: Shipment; readonly paidAt: Instant | undefined }) {
  const timeZone = useTimeZone();
  const { customer, total, currency, paymentDetails, paymentStatus } = shipment;
  const { refundedAmount = 0, disputedAmount = 0 } = paymentDetails ?? {};
  // Refunds can be partial. A manually recorded payment has no refund details from a provider.
  const refunded =
    paymentStatus === PaymentStatus.REFUNDED ? Number((total - disputedAmount).toFixed(4)) : refundedAmount;
  return (
    <article class="sheet receipt">
      <h2>Receipt {shipment.reference.replace("SHP", "RCP")}</h2>
      <DescriptionList
        items={[
          ["Seller", useWorkspace().name],
          ["Shipment", shipment.reference],
          ["Your reference", shipment.externalReference],
          ["Customer", customer && `${customer.name}, ${customer.email}`],
          ["Booked", receiptDate(shipment.createdAt, timeZone)],
          ["Paid", receiptDate(paidAt, timeZone)],
          ["From", shipment.pickupAddress],
          ["To", shipment.dropoffAddress],
        ]}
      />
      <PriceTable price={shipment} />
      <p class="receipt-paid">
        <Money amount={total} currency={currency} /> paid
        {refunded > 0 && (
          <>
            , <Money amount={refunded} currency={currency} /> refunded
          </>
        )}
        {disputedAmount > 0 && (
          <>
            , <Money amount={disputedAmount} currency={currency} /> reversed by the bank
          </>
        )}
        {paymentStatus === PaymentStatus.REFUND_PENDING &&
          (refunded + disputedAmount > 0 ? ", the rest to be refunded" : ", to be refunded")}
        .
      </p>
      {shipment.test && <p class="label-test">Test. No money was charged.</p>}
    </article>
  );
}

/** Formats a time with its year and time zone, because receipts are kept for years. */
function receiptDate(at: Instant | undefined, timeZone: string | undefined): string | undefined {
  const format = { year: "numeric", month: "long", day: "numeric", hour: "numeric", minute: "2-digit" } as const;
  return at && dateFormat(undefined, { ...format, timeZoneName: "short", timeZone }).format(dateOf(at));
}

function PrintPage(props: {
  readonly title: string;
  readonly up: Link;
  /** Whether the sheets are complete. If not, they cannot be printed yet. */
  readonly isReady?: boolean;
  readonly children?: ComponentChildren;
  readonly sheets: ComponentChildren;
}) {
  return (
    <Page
      title={props.title}
      up={props.up}
      actions={
        <Button primary disabled={props.isReady === false} onClick={() => print()}>
          Print
        </Button>
      }
    >
      {props.children}
      <div class="sheets">{props.sheets}</div>
    </Page>
  );
}
