import { expect } from "vitest";
import { haversineKm } from "../../src/domain/coverage/geo.ts";
import { naiveWindowFee, type NaiveSchedule, type NaiveWindow } from "./naive-windows.ts";

/** A tariff document whose zones are squares. */
export interface SquareTariff {
  readonly currency: "USD" | "JPY" | "KWD";
  readonly base_fee: string;
  readonly rate_per_km: string;
  readonly tiers: readonly {
    readonly min_kg: number;
    readonly max_kg: number;
    readonly flat_fee: string;
    readonly rate_per_kg: string;
  }[];
  readonly squares: readonly (readonly [west: number, south: number, east: number, north: number])[];
  readonly schedules: readonly NaiveSchedule[];
  /** Name of each square's schedule. */
  readonly scheduleOfSquare: readonly (string | undefined)[];
}

/** A stored shipment row. */
export interface ReplayedRow {
  readonly workspace: number;
  readonly reference: string;
  readonly pickup_lat: number;
  readonly pickup_lng: number;
  readonly dropoff_lat: number;
  readonly dropoff_lng: number;
  readonly weight_kg: number;
  readonly pickup: NaiveWindow | undefined;
  readonly dropoff: NaiveWindow | undefined;
  /** Time of booking, in milliseconds since the epoch. */
  readonly atMs: number;
}

const MINOR_DIGITS = { USD: 2, JPY: 0, KWD: 3 };

/** Parses a decimal without an exponent into an exact fraction. */
function fraction(decimal: string): [numerator: bigint, denominator: bigint] {
  const [whole = "", part = ""] = decimal.split(".");
  return [BigInt(whole + part), 10n ** BigInt(part.length)];
}

/** Returns the price in minor units. `undefined` if the tariff does not cover the route. */
function naivePrice(tariff: SquareTariff, row: ReplayedRow): bigint | undefined {
  const zoneAt = (lng: number, lat: number) =>
    tariff.squares.findIndex(
      ([west, south, east, north]) => west <= lng && lng <= east && south <= lat && lat <= north,
    );
  const pickupZone = zoneAt(row.pickup_lng, row.pickup_lat);
  const dropoffZone = zoneAt(row.dropoff_lng, row.dropoff_lat);
  const tier = tariff.tiers.find((it) => it.min_kg < row.weight_kg && row.weight_kg <= it.max_kg);
  if (pickupZone === -1 || dropoffZone === -1) return;
  if (tier === undefined) return;
  const unit = 10n ** BigInt(MINOR_DIGITS[tariff.currency]);
  const minor = (rate: string, quantity = "1") => {
    const [a, b] = fraction(rate);
    const [c, d] = fraction(quantity);
    return (2n * a * c * unit + b * d) / (2n * b * d);
  };
  const distanceKm = haversineKm(
    { lat: row.pickup_lat, lng: row.pickup_lng },
    { lat: row.dropoff_lat, lng: row.dropoff_lng },
  );
  const subtotal =
    minor(tariff.rate_per_km, String(distanceKm)) +
    minor(tier.flat_fee) +
    minor(tier.rate_per_kg, String(row.weight_kg));
  const least = minor(tariff.base_fee);
  const windowFees = naiveWindowFees(tariff, row, { pickup: pickupZone, dropoff: dropoffZone });
  if (windowFees === undefined) return;
  const ofWindows = windowFees.reduce((sum, fee) => sum + minor(fee), 0n);
  return (subtotal > least ? subtotal : least) + ofWindows;
}

/** Returns the fees for both windows as decimals. `undefined` if the windows cannot be booked. */
function naiveWindowFees(
  { schedules, scheduleOfSquare }: SquareTariff,
  row: ReplayedRow,
  zones: { readonly pickup: number; readonly dropoff: number },
): string[] | undefined {
  const { pickup, dropoff } = row;
  const feeOf = (end: "pickup" | "dropoff") => {
    const name = scheduleOfSquare[zones[end]];
    const schedule = schedules.find((it) => it.name === name);
    return naiveWindowFee(end, schedule, row[end], row.atMs);
  };
  const isOrdered = !pickup || !dropoff || (dropoff.startMs >= pickup.startMs && dropoff.endMs >= pickup.endMs);
  const fees = [feeOf("pickup"), feeOf("dropoff")].filter((fee) => fee !== undefined);
  return isOrdered && fees.length === 2 ? fees : undefined;
}

/** Bounds of the histogram's buckets in percent. The bucket [0, 0] is for unchanged prices. */
const BUCKETS: readonly (readonly [above: number | null, upTo: number | null])[] = [
  [null, -50],
  [-50, -20],
  [-20, -10],
  [-10, -5],
  [-5, -1],
  [-1, 0],
  [0, 0],
  [0, 1],
  [1, 5],
  [5, 10],
  [10, 20],
  [20, 50],
  [50, null],
];

function isWithin([above, upTo]: (typeof BUCKETS)[number], before: bigint, after: bigint): boolean {
  const change = 100n * (after - before);
  if (above === 0 && upTo === 0) return change === 0n;
  if (change === 0n) return false;
  if (before === 0n) return upTo === null;
  return (above === null || change > BigInt(above) * before) && (upTo === null || change <= BigInt(upTo) * before);
}

/** Computes the expected JSON of a replay in the simplest way. Shipments must be newest first. */
export function naiveReplay(inForce: SquareTariff, draft: SquareTariff, rows: readonly ReplayedRow[]): object {
  const priced = rows.map((row) => ({
    ...row,
    before: naivePrice(inForce, row),
    after: naivePrice(draft, row),
  }));
  const both = priced.flatMap(({ before, after, ...row }) =>
    before === undefined || after === undefined ? [] : [{ ...row, before, after }],
  );
  const refused = priced.filter(({ before, after }) => before !== undefined && after === undefined);
  const counts = {
    routes: rows.length,
    served_by_both: both.length,
    newly_covered: priced.filter(({ before, after }) => before === undefined && after !== undefined).length,
    newly_refused: refused.length,
    slot_full: 0,
    currency_in_force: inForce.currency,
    currency_of_draft: draft.currency,
  };
  if (inForce.currency !== draft.currency) {
    return { ...counts, total_in_force: 0, total_of_draft: 0, ...NOT_COMPARED };
  }
  const major = (minor: bigint) => Number(`${minor}e-${MINOR_DIGITS[inForce.currency]}`);
  const sizeOf = ({ before, after }: (typeof both)[number]) => (before > after ? before - after : after - before);
  const largest = both
    .filter(({ before, after }) => before !== after)
    .toSorted((a, b) => Number(sizeOf(b) - sizeOf(a)) || (a.reference < b.reference ? -1 : 1));
  return {
    ...counts,
    total_in_force: major(both.reduce((sum, { before }) => sum + before, 0n)),
    total_of_draft: major(both.reduce((sum, { after }) => sum + after, 0n)),
    distribution: BUCKETS.map((bucket) => ({
      above_percent: bucket[0],
      up_to_percent: bucket[1],
      routes: both.filter(({ before, after }) => isWithin(bucket, before, after)).length,
    })),
    largest: largest.slice(0, 20).map(({ workspace, reference, before, after }) => ({
      workspace,
      shipment: reference,
      total_in_force: major(before),
      total_of_draft: major(after),
      message: null,
      failure_type: null,
    })),
    refused: refused.slice(0, 20).map(({ workspace, reference, before }) => ({
      workspace,
      shipment: reference,
      total_in_force: major(before!),
      total_of_draft: null,
      message: expect.stringMatching(
        /^(The .* outside the coverage zones|No pricing tier covers .* kg; weights above |(pickup|dropoff)_window )/,
      ),
      failure_type: expect.stringMatching(/^(coverage|weight|window)$/),
    })),
  };
}

const NOT_COMPARED = { distribution: [], largest: [], refused: [] };
