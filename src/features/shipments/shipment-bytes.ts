import { jsonBytes } from "../../pipeline/page.ts";
import { shipmentJson } from "./shipment-json.ts";
import type { ShipmentRow } from "./shipment-row.ts";

/** More than everything takes that is not the caller's text: names of fields, numbers and times. */
const WITHOUT_TEXT = 2 * 1024;
/** The most bytes of one UTF-16 unit, as JSON writes control characters (`\u0001`). */
const UNIT_BYTES = 6;
/** As many shipments of this size as a page may have fit on it, so they are not measured. */
const SMALL = 24 * 1024;

/** The most bytes that a shipment takes in an answer, in whatever form. */
export function shipmentBytes(row: ShipmentRow): number {
  const estimate = WITHOUT_TEXT + UNIT_BYTES * textLength(row);
  return estimate <= SMALL ? estimate : WITHOUT_TEXT + jsonBytes(shipmentJson(row));
}

function textLength(row: ShipmentRow): number {
  const { customer, metadata } = row;
  let length =
    row.pickupAddress.length +
    row.dropoffAddress.length +
    customer.name.length +
    customer.email.length +
    (row.createdBy?.length ?? 0) +
    (customer.idNumber?.length ?? 0) +
    (row.cancelNote?.length ?? 0) +
    (row.externalReference?.length ?? 0);
  for (const key in metadata) length += key.length + (metadata[key] as string).length;
  return length;
}
