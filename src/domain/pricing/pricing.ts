import { createCoverage, type Coverage } from "../coverage/coverage.ts";
import { haversineKm, type Point } from "../coverage/geo.ts";
import { identityAt, packIdentities, type PackedIdentities } from "../coverage/zone-identities.ts";
import type { ZoneIdentity } from "../coverage/zone-identities.ts";
import { createCalendars, type Calendar } from "../schedule/calendar.ts";
import { type End, ENDS, type Ends } from "../route-ends.ts";
import { multiplyHalfUp, multiplyToMinor, toMajor } from "./money.ts";
import type { Fees, Tariff, Tier } from "./tariff.ts";

/** A tariff prepared for quoting. Create it once per version with `createPricing`. */
export interface Pricing {
  /** The tariff without its zones, which `coverage` stores in a fifth of the memory. */
  readonly fees: Fees;
  readonly coverage: Coverage;
  /** Identities of the zones, in the order of the tariff. */
  readonly zones: PackedIdentities;
  /** Calendars of the schedules, in the order of the tariff. `undefined` if it has no schedules. */
  readonly calendars: readonly Calendar[] | undefined;
  /** Text that lists the served weight ranges in a refusal. */
  readonly servedWeights: string;
}

/** A route to quote. Both points are in range, and the weight is at least 0.01 kg. */
export interface Route {
  readonly pickup: Point;
  readonly dropoff: Point;
  readonly weightKg: number;
}

interface RouteFields {
  readonly pickupLat: number;
  readonly pickupLng: number;
  readonly dropoffLat: number;
  readonly dropoffLng: number;
  readonly weightKg: number;
}

export function routeOf(fields: RouteFields): Route {
  return {
    pickup: { lat: fields.pickupLat, lng: fields.pickupLng },
    dropoff: { lat: fields.dropoffLat, lng: fields.dropoffLng },
    weightKg: fields.weightKg,
  };
}

/** A reason why a route has no price, with a display message. */
export interface QuoteFailure {
  readonly failure: "coverage" | "weight" | "window";
  readonly message: string;
}

export interface CoveredQuote {
  readonly covered: true;
  /** Unrounded distance. See `roundKm`. */
  readonly distanceKm: number;
  readonly distanceFeeMinor: number;
  readonly weightFeeMinor: number;
  readonly baseFeeMinor: number;
  /** Distance fee plus weight fee. */
  readonly subtotalMinor: number;
  readonly windowFeeMinor: number;
  /** The greater of subtotal and base fee, plus the window fee. */
  readonly totalMinor: number;
  readonly currency: string;
}

/** All reasons why a route has no price, coverage before weight. */
export interface UncoveredQuote {
  readonly covered: false;
  readonly failures: readonly [QuoteFailure, ...QuoteFailure[]];
  /** Distance of each uncovered end from the nearest zone, in meters. */
  readonly outsideMeters: Partial<Ends<number>>;
  readonly baseFeeMinor: number;
  readonly currency: string;
}

export type Quote = CoveredQuote | UncoveredQuote;

export function createPricing({ zones, ...fees }: Tariff): Pricing {
  return pricingOf({ fees, coverage: createCoverage(zones), zones: packIdentities(zones) });
}

export function pricingOf(parts: Omit<Pricing, "servedWeights" | "calendars">): Pricing {
  const { tiers, scheduling } = parts.fees;
  return {
    ...parts,
    calendars: scheduling && createCalendars(scheduling.schedules),
    servedWeights: servedWeightsText(tiers),
  };
}

/** Returns the calendars of the zones at both ends of a route. `undefined` for an end without a schedule. */
export function calendarsOf(pricing: Pricing, { pickup, dropoff }: Route): Ends<Calendar> {
  const { fees, coverage, calendars } = pricing;
  const calendarAt = (point: Point) => {
    const zone = coverage.zoneAt(point);
    return zone === undefined ? undefined : calendars?.[fees.scheduling!.ofZone[zone]!];
  };
  if (calendars === undefined) return { pickup: undefined, dropoff: undefined };
  return { pickup: calendarAt(pickup), dropoff: calendarAt(dropoff) };
}

export function withWindowFee(priced: CoveredQuote, windowFeeMinor: number): CoveredQuote {
  const totalMinor = Math.max(priced.subtotalMinor, priced.baseFeeMinor) + windowFeeMinor;
  return { ...priced, windowFeeMinor, totalMinor };
}

/**
 * Prices a route, or returns all reasons why it cannot be served: each uncovered end, and a weight
 * that no tier covers.
 */
export function quote(pricing: Pricing, route: Route): Quote {
  return priceRoute(pricing, route) ?? uncoveredQuote(pricing, route);
}

/** Zone index of each end of a route. `undefined` if the end is not covered. */
export interface RouteZones {
  readonly pickup: number | undefined;
  readonly dropoff: number | undefined;
}

export function zoneIdentityAt({ zones }: Pricing, index: number | undefined): ZoneIdentity | undefined {
  return index === undefined ? undefined : identityAt(zones, index);
}

/** Returns the zone at a point. `undefined` if the point is not covered. */
export function zoneOf(pricing: Pricing, point: Point): ZoneIdentity | undefined {
  return zoneIdentityAt(pricing, pricing.coverage.zoneAt(point));
}

/** Like `quote`, and also returns the zones of both ends. */
export function quoteWithZones(pricing: Pricing, route: Route): { readonly quote: Quote; readonly zones: RouteZones } {
  const { fees, coverage } = pricing;
  const { pickup, dropoff, weightKg } = route;
  const zones = { pickup: coverage.zoneAt(pickup), dropoff: coverage.zoneAt(dropoff) };
  const tier = findTier(fees.tiers, weightKg);
  const isServed = tier && zones.pickup !== undefined && zones.dropoff !== undefined;
  return {
    quote: isServed ? price(fees, tier, haversineKm(pickup, dropoff), weightKg) : uncoveredQuote(pricing, route),
    zones,
  };
}

/**
 * Prices a route by its fees, without checking the coverage. Returns `undefined` if no tier covers
 * the weight. Also prices by the fees of an earlier tariff.
 */
export function priceByFees(fees: Fees, { pickup, dropoff, weightKg }: Route): CoveredQuote | undefined {
  const tier = findTier(fees.tiers, weightKg);
  return tier && price(fees, tier, haversineKm(pickup, dropoff), weightKg);
}

/**
 * Prices a route. Returns `undefined` if it is not served. Faster than `quote`, because it does not
 * compute distances to the nearest zone.
 */
export function priceRoute({ fees, coverage }: Pricing, route: Route): CoveredQuote | undefined {
  if (!coverage.covers(route.pickup) || !coverage.covers(route.dropoff)) return undefined;
  return priceByFees(fees, route);
}

function uncoveredQuote(pricing: Pricing, { pickup, dropoff, weightKg }: Route): UncoveredQuote {
  const { fees } = pricing;
  const outside = endsOutside(pricing.coverage, { pickup, dropoff });
  const uncovered = outside.length === 0 ? undefined : coverageFailure(pricing.coverage, outside);
  const isServed = findTier(fees.tiers, weightKg) !== undefined;
  const unserved = isServed ? undefined : weightFailure(pricing, weightKg);
  return {
    covered: false,
    failures: [uncovered, unserved].filter((failure) => failure !== undefined) as [QuoteFailure],
    outsideMeters: Object.fromEntries(outside.map(({ name, meters }) => [name, meters])),
    baseFeeMinor: fees.baseFeeMinor,
    currency: fees.currency,
  };
}

/**
 * Computes a price. All sums are safe integers, below 2^53 ≈ 9.0e15: an amount is at most 10^6 in the major unit or
 * 10^10 in the minor unit, so 20,016 km cost at most 2.1e14, and 100,000 kg with the flat fee at most 1.1e15.
 */
function price(fees: Fees, tier: Tier, distanceKm: number, weightKg: number): CoveredQuote {
  const { minorDigits } = fees;
  const distanceFeeMinor = multiplyToMinor(distanceKm, fees.ratePerKmMillionths, minorDigits);
  // The flat fee is a whole number, so rounding the other term is the same as rounding the sum.
  const weightFeeMinor = tier.flatFeeMinor + multiplyToMinor(weightKg, tier.ratePerKgMillionths, minorDigits);
  const subtotalMinor = distanceFeeMinor + weightFeeMinor;
  return {
    covered: true,
    distanceKm,
    distanceFeeMinor,
    weightFeeMinor,
    baseFeeMinor: fees.baseFeeMinor,
    subtotalMinor,
    windowFeeMinor: 0,
    totalMinor: Math.max(subtotalMinor, fees.baseFeeMinor),
    currency: fees.currency,
  };
}

/** Rounds a distance half up to three decimals for display. Fees use the unrounded distance. */
export function roundKm(distanceKm: number): number {
  return multiplyHalfUp(distanceKm, 1000, 0) / 1000;
}

/** Returns a price in major units, as in responses. */
export function priceInMajor(priced: CoveredQuote) {
  const { currency } = priced;
  return {
    distanceKm: roundKm(priced.distanceKm),
    distanceFee: toMajor(priced.distanceFeeMinor, currency),
    weightFee: toMajor(priced.weightFeeMinor, currency),
    baseFee: toMajor(priced.baseFeeMinor, currency),
    subtotal: toMajor(priced.subtotalMinor, currency),
    windowFee: toMajor(priced.windowFeeMinor, currency),
    total: toMajor(priced.totalMinor, currency),
    currency,
  };
}

/** Returns the tier that covers a weight, or `undefined`. Binary search over ascending tiers. */
export function findTier(tiers: readonly Tier[], weightKg: number): Tier | undefined {
  let low = 0;
  let high = tiers.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (tiers[middle]!.maxKg < weightKg) low = middle + 1;
    else high = middle;
  }
  const tier = tiers[low];
  return tier !== undefined && tier.minKg < weightKg ? tier : undefined;
}

interface EndOutside {
  readonly name: End;
  readonly point: Point;
  /** Distance to the nearest zone, in meters. `undefined` if there are no zones. */
  readonly meters: number | undefined;
}

function endsOutside(coverage: Coverage, ends: Pick<Route, End>): readonly EndOutside[] {
  return ENDS.map((name) => ({ name, point: ends[name] }))
    .filter(({ point }) => !coverage.covers(point))
    .map((end) => ({ ...end, meters: coverage.metersToNearestZone(end.point) }));
}

function coverageFailure(coverage: Coverage, outside: readonly EndOutside[]): QuoteFailure {
  const points = outside.length === 1 ? "point is" : "points are";
  const away = awayText(outside.map(({ meters }) => meters));
  const exchanged = exchangedText(outside.filter(({ point }) => looksExchanged(coverage, point)));
  return {
    failure: "coverage",
    message: `The ${namesOf(outside)} ${points} outside the coverage zones${away}${exchanged}.`,
  };
}

function namesOf(ends: readonly EndOutside[]): string {
  return ends.map(({ name }) => name).join(" and ");
}

/** Returns the part of a message with the distances to the nearest zone. Empty if there are no zones. */
function awayText(meters: readonly (number | undefined)[]): string {
  if (meters.includes(undefined)) return "";
  return `, ${meters.map((it) => distanceText(it!)).join(" and ")} from the nearest one`;
}

function distanceText(meters: number): string {
  return meters <= 10_000 ? `${meters} m` : `${Math.round(meters / 1000)} km`;
}

/** Whether a point would be covered with latitude and longitude swapped. */
function looksExchanged(coverage: Coverage, { lat, lng }: Point): boolean {
  return Math.abs(lng) <= 90 && coverage.covers({ lat: lng, lng: lat });
}

function exchangedText(ends: readonly EndOutside[]): string {
  if (ends.length === 0) return "";
  return `; latitude and longitude of the ${namesOf(ends)} look swapped`;
}

function weightFailure({ servedWeights }: Pricing, weightKg: number): QuoteFailure {
  return {
    failure: "weight",
    message: `No pricing tier covers ${weightKg} kg; ${servedWeights}.`,
  };
}

/** Maximum number of weight ranges that a refusal lists. */
const RANGES_SHOWN = 5;

function servedWeightsText(tiers: readonly Tier[]): string {
  if (tiers.length === 0) return "no weights are served at present";
  const ranges = mergeTouching(tiers).map(({ minKg, maxKg }) => `above ${minKg} kg and up to ${maxKg} kg`);
  const unshown = ranges.length - RANGES_SHOWN;
  const more = unshown > 0 ? `, or in ${unshown} further range${unshown === 1 ? "" : "s"}` : "";
  return `weights ${ranges.slice(0, RANGES_SHOWN).join(", or ")}${more} are served`;
}

function mergeTouching(tiers: readonly Tier[]): { minKg: number; maxKg: number }[] {
  const ranges: { minKg: number; maxKg: number }[] = [];
  for (const { minKg, maxKg } of tiers) {
    const last = ranges.at(-1);
    if (last?.maxKg === minKg) last.maxKg = maxKg;
    else ranges.push({ minKg, maxKg });
  }
  return ranges;
}
