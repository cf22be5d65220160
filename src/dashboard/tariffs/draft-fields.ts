import type { TariffDraft, TariffFees, TariffSchedules } from "../../../gen/shipments/admin/v1/tariff_pb.js";
import { decimalOf, moneyText, numberFrom, numberText } from "../ui/format.ts";
import { type SchedulesText, textOfSchedules } from "./schedule-fields.ts";

/** A tier as typed. The key identifies its row. */
export interface TierText {
  readonly key: number;
  readonly min_kg: string;
  readonly max_kg: string;
  readonly flat_fee: string;
  readonly rate_per_kg: string;
}

export interface FeesText {
  readonly currency: string;
  readonly base_fee: string;
  readonly rate_per_km: string;
  readonly tiers: readonly TierText[];
}

export interface DraftText extends SchedulesText, FeesText {
  readonly name: string;
}

let lastKey = 0;

/** Returns a new tier that starts where the previous one ends, or at 0. */
export function tierAfter(before: TierText | undefined): TierText {
  const min_kg = before?.max_kg ?? "0";
  return { key: ++lastKey, min_kg, max_kg: "", flat_fee: "", rate_per_kg: "" };
}

/** A draft and its schedules, read at one etag. */
export interface LoadedDraft {
  readonly draft: TariffDraft;
  readonly schedules: TariffSchedules;
  readonly etag: string;
}

export function textOfDraft({ draft: { name, fees }, schedules }: LoadedDraft): DraftText {
  return { ...textOfSchedules(schedules), name, ...textOfFees(fees) };
}

export function textOfFees(fees: TariffFees | undefined): FeesText {
  return {
    currency: fees?.currency ?? "",
    base_fee: fees?.baseFee ?? "",
    rate_per_km: fees?.ratePerKm ?? "",
    tiers: (fees?.tiers ?? []).map((tier) => ({
      key: ++lastKey,
      min_kg: String(tier.minKg),
      max_kg: String(tier.maxKg),
      flat_fee: tier.flatFee,
      rate_per_kg: tier.ratePerKg,
    })),
  };
}

function startOf({ min_kg }: TierText): number {
  const start = numberFrom(min_kg) ?? NaN;
  return Number.isNaN(start) ? Infinity : start;
}

/** Returns the draft with its tiers in ascending order. Tiers without a start come last. */
export function withSortedTiers<Text extends Pick<DraftText, "tiers">>(text: Text): Text {
  return { ...text, tiers: text.tiers.toSorted((one, other) => startOf(one) - startOf(other) || 0) };
}

/** Returns the gap before a tier, such as `10 to 20 kg`, or `undefined` if absent. */
export function gapBefore(tiers: readonly TierText[], index: number): string | undefined {
  const start = numberFrom(tiers[index]!.min_kg) ?? NaN;
  const end = index === 0 ? 0 : (numberFrom(tiers[index - 1]!.max_kg) ?? NaN);
  return start > end ? `${numberText(end)} to ${numberText(start)} kg` : undefined;
}

/** Whether two values are equal when the rows' keys are ignored. */
export function isSameText(one: object, other: object): boolean {
  return fieldTextOf(one) === fieldTextOf(other);
}

function fieldTextOf(text: object): string {
  return JSON.stringify(text, (name, value: unknown) => (name === "key" || name === "path" ? undefined : value));
}

type TextName<Row> = {
  [Name in keyof Row]: Row[Name] extends string ? Name : never;
}[keyof Row] &
  string;

/** Returns `In force: ...` if the tariff in force has another value, and `hint` otherwise. */
export function changedHint(old: string | undefined, text: string, hint?: string): string | undefined {
  return old === undefined || old === text ? hint : `In force: ${old || "none"}`;
}

/** Maximum number of decimals of a tariff's amount. */
export const RATE_DECIMALS = 6;

/**
 * Returns a function that creates the props of a text field for a row's property. `path` prefixes the field names. The
 * hint of a field that differs from the tariff in force is the value there: `In force: $5.00`.
 */
export function fieldOf<Row extends object>(
  row: Row,
  change: (row: Row) => void,
  path?: string,
  inForce?: Partial<NoInfer<Row>>,
  currency?: string,
) {
  return (name: TextName<Row>) => {
    const value = row[name] as string;
    const old = inForce?.[name] as string | undefined;
    const isSame = old?.toUpperCase() === value.trim().toUpperCase() || (old && Number(old) === numberFrom(value));
    const isMoney = old && currency && /fee|rate/.test(name);
    const hint = isSame
      ? undefined
      : changedHint(isMoney ? moneyText(Number(old), currency, RATE_DECIMALS) : old, value);
    return {
      name: path === undefined ? name : `${path}.${name}`,
      value,
      onInput: (typed: string) => change({ ...row, [name]: typed }),
      ...(hint && { hint }),
    };
  };
}

export function feesOfText(text: DraftText) {
  return {
    currency: text.currency.trim().toUpperCase(),
    baseFee: decimalOf(text.base_fee),
    ratePerKm: decimalOf(text.rate_per_km),
    tiers: text.tiers.map((tier) => ({
      minKg: numberFrom(tier.min_kg),
      maxKg: numberFrom(tier.max_kg),
      flatFee: decimalOf(tier.flat_fee),
      ratePerKg: decimalOf(tier.rate_per_kg),
    })),
  };
}
