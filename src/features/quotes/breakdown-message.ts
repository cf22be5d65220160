import {
  QuoteLineKind,
  QuoteLineUnit,
  type QuoteBreakdownLine,
} from "../../../gen/shipments/v1/quote_pb.js";
import type { BreakdownLine } from "../../domain/pricing/breakdown.ts";
import { toMajor } from "../../domain/pricing/money.ts";

const KIND: Readonly<Record<BreakdownLine["kind"], QuoteLineKind>> = {
  distance: QuoteLineKind.DISTANCE,
  weight: QuoteLineKind.WEIGHT,
  minimum: QuoteLineKind.MINIMUM,
  window: QuoteLineKind.WINDOW,
};

const UNIT: Readonly<Record<BreakdownLine["unit"], QuoteLineUnit>> = {
  km: QuoteLineUnit.KM,
  kg: QuoteLineUnit.KG,
  shipment: QuoteLineUnit.SHIPMENT,
  window: QuoteLineUnit.WINDOW,
};

export function breakdownMessage(
  lines: readonly BreakdownLine[],
  currency: string,
): QuoteBreakdownLine[] {
  return lines.map(({ kind, quantity, unit, rate, amountMinor }) => ({
    $typeName: "shipments.v1.QuoteBreakdownLine",
    kind: KIND[kind],
    quantity,
    unit: UNIT[unit],
    rate,
    amount: toMajor(amountMinor, currency),
  }));
}

/** The same as the JSON dialect of `/v1` writes it. */
export function breakdownJson(lines: readonly BreakdownLine[], currency: string) {
  return lines.map(({ kind, quantity, unit, rate, amountMinor }) => ({
    kind,
    quantity,
    unit,
    rate,
    amount: toMajor(amountMinor, currency),
  }));
}
