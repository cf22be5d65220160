import type { BreakdownLine } from "../../domain/pricing/breakdown.ts";
import { toMajor } from "../../domain/pricing/money.ts";

export function breakdownRecord(lines: readonly BreakdownLine[], currency: string) {
  return lines.map((line) => ({ ...line, amount: toMajor(line.amountMinor, currency) }));
}
