import type { Shipment } from "../../../gen/shipments/v1/shipment_pb.js";
import { moneyText } from "../ui/format.ts";

export function totalText(shipments: readonly Pick<Shipment, "total" | "currency">[]): string {
  const sums = [...Map.groupBy(shipments, ({ currency }) => currency)].map(([currency, own]) => {
    const sum = own.reduce((total, shipment) => total + shipment.total, 0);
    // Totals are exact to the minor unit; their sum as a double is, once rounded to the same.
    return moneyText(Number(sum.toFixed(4)), currency);
  });
  return new Intl.ListFormat("en").format(sums);
}

export function countText(count: number): string {
  return count === 1 ? "1 shipment" : `${count} shipments`;
}
