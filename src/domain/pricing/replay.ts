import {
  priceRoute,
  type CoveredQuote,
  type Pricing,
  type Quote,
  type QuoteFailure,
} from "./pricing.ts";
import { quoteBookable, type BookableRoute } from "./windows.ts";

/** A shipment to price again, as of when it was booked. */
export interface ReplayedShipment extends BookableRoute {
  readonly workspace: number;
  readonly reference: string;
}

export interface BothTariffs {
  readonly inForce: Pricing;
  readonly ofDraft: Pricing;
}

export interface Replay {
  /** How many were priced. */
  readonly routes: number;
  readonly servedByBoth: number;
  /** How many are served by the draft alone. */
  readonly newlyCovered: number;
  /** How many are served by the tariff in force alone. */
  readonly newlyRefused: number;
  readonly currencyInForce: string;
  readonly currencyOfDraft: string;
  readonly comparison: PriceComparison | undefined;
}

/** How prices compare, in minor units of the one currency. */
export interface PriceComparison {
  /** The prices of the shipments that both serve. A bigint, since sums can be above 2^53. */
  readonly totalInForceMinor: bigint;
  readonly totalOfDraftMinor: bigint;
  /**
   * The shipments that both serve, by the share of the change, from the largest fall to the largest rise. Prices that
   * stay have a bucket of their own, from 0 to 0, and a price that rises from 0 is in the last.
   */
  readonly distribution: readonly ChangeBucket[];
  /** The largest changes of what both serve, the largest first. */
  readonly largest: readonly PriceChange[];
  /** The newest of those that the draft alone refuses. */
  readonly refused: readonly RefusedShipment[];
}

/** The price of a shipment that both serve, in minor units. */
export interface PriceChange {
  readonly workspace: number;
  readonly reference: string;
  readonly inForceMinor: number;
  readonly ofDraftMinor: number;
}

export interface RefusedShipment {
  readonly workspace: number;
  readonly reference: string;
  readonly inForceMinor: number;
  /** Why the draft does not serve it. */
  readonly message: string;
  readonly failure: QuoteFailure["failure"];
}

/** How many prices change by more than one share and up to another, in percent. */
export interface ChangeBucket {
  /** Undefined for no bound. */
  readonly abovePercent: number | undefined;
  readonly upToPercent: number | undefined;
  readonly routes: number;
}

/** How many of the largest changes, and of the refused shipments, are listed. */
const MAX_LISTED = 20;

/** @param shipments the newest first */
export function replayShipments(
  { inForce, ofDraft }: BothTariffs,
  shipments: readonly ReplayedShipment[],
): Replay {
  const changes: PriceChange[] = [];
  const refused: NewlyRefused[] = [];
  let newlyCovered = 0;
  for (const shipment of shipments) {
    const { workspace, reference } = shipment;
    const inForceMinor = priceShipment(inForce, shipment)?.totalMinor;
    const ofDraftMinor = priceShipment(ofDraft, shipment)?.totalMinor;
    if (inForceMinor === undefined) newlyCovered += Number(ofDraftMinor !== undefined);
    else if (ofDraftMinor === undefined) refused.push({ ...shipment, inForceMinor });
    else changes.push({ workspace, reference, inForceMinor, ofDraftMinor });
  }
  const currencyInForce = inForce.fees.currency;
  const currencyOfDraft = ofDraft.fees.currency;
  const compared = () => ({
    ...comparePrices(changes),
    refused: refused.slice(0, MAX_LISTED).map((shipment) => explainRefusal(shipment, ofDraft)),
  });
  return {
    routes: shipments.length,
    servedByBoth: changes.length,
    newlyCovered,
    newlyRefused: refused.length,
    currencyInForce,
    currencyOfDraft,
    comparison: currencyInForce === currencyOfDraft ? compared() : undefined,
  };
}

/** To say why a shipment is not served takes long, so that it is only said of those that are listed. */
function priceShipment(pricing: Pricing, shipment: ReplayedShipment): CoveredQuote | undefined {
  const { pickup, dropoff } = shipment.windows;
  const priced = priceRoute(pricing, shipment.route);
  if (!priced || (!pricing.calendars && !pickup && !dropoff)) return priced;
  const quoted = quoteBookable(pricing, shipment);
  return quoted.covered ? quoted : undefined;
}

type NewlyRefused = ReplayedShipment & { readonly inForceMinor: number };

function explainRefusal(shipment: NewlyRefused, ofDraft: Pricing): RefusedShipment {
  const { workspace, reference, inForceMinor } = shipment;
  return {
    workspace,
    reference,
    inForceMinor,
    ...firstFailure(quoteBookable(ofDraft, shipment)),
  };
}

function firstFailure(quoted: Quote): QuoteFailure {
  if (quoted.covered) throw new Error("the draft serves what it was said to refuse");
  return quoted.failures[0];
}

function comparePrices(changes: readonly PriceChange[]): Omit<PriceComparison, "refused"> {
  let totalInForceMinor = 0n;
  let totalOfDraftMinor = 0n;
  const counts = BUCKETS.map(() => 0);
  for (const { inForceMinor, ofDraftMinor } of changes) {
    totalInForceMinor += BigInt(inForceMinor);
    totalOfDraftMinor += BigInt(ofDraftMinor);
    counts[bucketOf(inForceMinor, ofDraftMinor)]!++;
  }
  return {
    totalInForceMinor,
    totalOfDraftMinor,
    distribution: BUCKETS.map((bucket, i) => ({ ...bucket, routes: counts[i]! })),
    largest: largestChanges(changes),
  };
}

/** Where buckets end, in percent. */
const ENDS = [-50, -20, -10, -5, -1, 0, 0, 1, 5, 10, 20, 50];

/** The buckets in ascending order. The one between 0 and 0 is that of prices that stay. */
const BUCKETS = [...ENDS, undefined].map((upToPercent, i) => ({
  abovePercent: ENDS[i - 1],
  upToPercent,
}));

const BUCKET_OF_NO_CHANGE = ENDS.lastIndexOf(0);

/** The number of a change's bucket. In bigints: a hundred times a price can be above 2^53. */
function bucketOf(inForceMinor: number, ofDraftMinor: number): number {
  const change = ofDraftMinor - inForceMinor;
  if (change === 0) return BUCKET_OF_NO_CHANGE;
  const hundredfold = 100n * BigInt(change);
  const price = BigInt(inForceMinor);
  return BUCKETS.findIndex(
    ({ upToPercent }) => upToPercent === undefined || hundredfold <= BigInt(upToPercent) * price,
  );
}

/** The largest in money, the largest first; those of one size in the order of their references. */
function largestChanges(changes: readonly PriceChange[]): PriceChange[] {
  const sizeOf = ({ inForceMinor, ofDraftMinor }: PriceChange) =>
    Math.abs(ofDraftMinor - inForceMinor);
  return changes
    .filter((change) => sizeOf(change) > 0)
    .toSorted(
      (a, b) =>
        sizeOf(b) - sizeOf(a) || compare(a.reference, b.reference) || a.workspace - b.workspace,
    )
    .slice(0, MAX_LISTED);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
