import { priceRoute, type CoveredQuote, type Pricing, type Quote, type QuoteFailure } from "./pricing.ts";
import { remainingOf, type SlotLoad, toMilligrams, unitOf, type WindowSlot } from "../schedule/slot-load.ts";
import { decideRoute, quoteBookable, type BookableRoute } from "./windows.ts";

/** A shipment that is priced again as of its booking time. */
export interface ReplayedShipment extends BookableRoute {
  readonly workspace: number;
  readonly reference: string;
  readonly isCancelled: boolean;
}

export interface BothTariffs {
  readonly inForce: Pricing;
  readonly ofDraft: Pricing;
}

export interface Replay {
  readonly routes: number;
  readonly servedByBoth: number;
  /** Number of routes that only the draft serves. */
  readonly newlyCovered: number;
  /** Number of routes that only the tariff in force serves. */
  readonly newlyRefused: number;
  /** Number of shipments that the draft serves, but whose slot would have been full. */
  readonly slotFull: number;
  readonly currencyInForce: string;
  readonly currencyOfDraft: string;
  readonly comparison: PriceComparison | undefined;
}

/** Comparison of prices, in minor units of one currency. */
interface PriceComparison {
  /** Total price of the shipments that both tariffs serve. A bigint, because sums can exceed 2^53. */
  readonly totalInForceMinor: bigint;
  readonly totalOfDraftMinor: bigint;
  /**
   * Distribution of the price changes of shipments that both tariffs serve, from the largest decrease to the largest
   * increase. Unchanged prices are in a separate bucket from 0 to 0. A price that rises from 0 is in the last bucket.
   */
  readonly distribution: readonly ChangeBucket[];
  /** Largest price changes of shipments that both tariffs serve, in descending order. */
  readonly largest: readonly PriceChange[];
  /** The newest shipments that only the tariff in force serves. */
  readonly refused: readonly RefusedShipment[];
}

/** Prices of a shipment that both tariffs serve, in minor units. */
interface PriceChange {
  readonly workspace: number;
  readonly reference: string;
  readonly inForceMinor: number;
  readonly ofDraftMinor: number;
}

interface RefusedShipment {
  readonly workspace: number;
  readonly reference: string;
  readonly inForceMinor: number;
  /** Reason why the draft does not serve the shipment. */
  readonly message: string;
  readonly failure: QuoteFailure["failure"];
}

/** Number of prices whose change lies in a percentage range. */
interface ChangeBucket {
  /** Lower bound, exclusive. `undefined` if there is none. */
  readonly abovePercent: number | undefined;
  readonly upToPercent: number | undefined;
  readonly routes: number;
}

/** Maximum number of listed changes, and of listed refused shipments. */
const MAX_LISTED = 20;

/**
 * Prices shipments with both tariffs and compares the results.
 *
 * @param shipments newest first
 */
export function replayShipments({ inForce, ofDraft }: BothTariffs, shipments: readonly ReplayedShipment[]): Replay {
  const changes: PriceChange[] = [];
  const servedByDraft: ReplayedShipment[] = [];
  const refused: NewlyRefused[] = [];
  let newlyCovered = 0;
  for (const shipment of shipments) {
    const { workspace, reference } = shipment;
    const inForceMinor = priceShipment(inForce, shipment)?.totalMinor;
    const ofDraftMinor = priceShipment(ofDraft, shipment)?.totalMinor;
    if (ofDraftMinor !== undefined) servedByDraft.push(shipment);
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
    slotFull: countFull(ofDraft, servedByDraft.toReversed()),
    currencyInForce,
    currencyOfDraft,
    comparison: currencyInForce === currencyOfDraft ? compared() : undefined,
  };
}

/** Prices a shipment without computing why it is not served, which is slow and needed only for listed shipments. */
function priceShipment(pricing: Pricing, shipment: ReplayedShipment): CoveredQuote | undefined {
  const { pickup, dropoff } = shipment.windows;
  const priced = priceRoute(pricing, shipment.route);
  if (!priced || (!pricing.calendars && !pickup && !dropoff)) return priced;
  const quoted = quoteBookable(pricing, shipment);
  return quoted.covered ? quoted : undefined;
}

/** Counts the shipments whose slot was already full. Neither they nor cancelled shipments take up capacity. */
function countFull(ofDraft: Pricing, oldestFirst: readonly ReplayedShipment[]): number {
  if (!ofDraft.calendars?.some(({ schedule }) => schedule.capacity)) return 0;
  const loads = new Map<string, SlotLoad>();
  let full = 0;
  for (const { route, windows, atMs, isCancelled } of oldestFirst) {
    if (isCancelled) continue;
    const { pickup, dropoff } = decideRoute(ofDraft, route, { windows }, atMs).windows;
    const slots = [pickup, dropoff].flatMap((window): [string, WindowSlot][] =>
      window?.slot === undefined ? [] : [[`${window.startMs} ${window.endMs} ${window.slot.schedule}`, window.slot]],
    );
    const isFull = slots.some(
      ([id, { calendar, capacity = null }]) =>
        remainingOf(loads.get(id), unitOf(calendar), capacity, route.weightKg)?.fits === false,
    );
    if (isFull) full++;
    else for (const id of new Set(slots.map(([each]) => each))) loads.set(id, addTo(loads.get(id), route.weightKg));
  }
  return full;
}

function addTo(load: SlotLoad | undefined, weightKg: number): SlotLoad {
  const { shipments, milligrams } = load ?? { shipments: 0, milligrams: 0 };
  return { shipments: shipments + 1, milligrams: milligrams + toMilligrams(weightKg), capacity: null };
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
  if (quoted.covered) throw new Error("the draft serves a route that it should refuse");
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

/** Bounds of the buckets, in percent. */
const BOUNDS = [-50, -20, -10, -5, -1, 0, 0, 1, 5, 10, 20, 50];

/** The buckets in ascending order. The bucket from 0 to 0 contains unchanged prices. */
const BUCKETS = [...BOUNDS, undefined].map((upToPercent, i) => ({
  abovePercent: BOUNDS[i - 1],
  upToPercent,
}));

const BUCKET_OF_NO_CHANGE = BOUNDS.lastIndexOf(0);

/** Returns the bucket index of a price change. Uses bigints because 100 times a price can exceed 2^53. */
function bucketOf(inForceMinor: number, ofDraftMinor: number): number {
  const change = ofDraftMinor - inForceMinor;
  if (change === 0) return BUCKET_OF_NO_CHANGE;
  const hundredfold = 100n * BigInt(change);
  const price = BigInt(inForceMinor);
  return BUCKETS.findIndex(
    ({ upToPercent }) => upToPercent === undefined || hundredfold <= BigInt(upToPercent) * price,
  );
}

/** Returns the changes with the largest absolute amounts in descending order, then by reference. */
function largestChanges(changes: readonly PriceChange[]): PriceChange[] {
  const sizeOf = ({ inForceMinor, ofDraftMinor }: PriceChange) => Math.abs(ofDraftMinor - inForceMinor);
  return changes
    .filter((change) => sizeOf(change) > 0)
    .toSorted((a, b) => sizeOf(b) - sizeOf(a) || compare(a.reference, b.reference) || a.workspace - b.workspace)
    .slice(0, MAX_LISTED);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
