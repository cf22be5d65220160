/** How many customers a prepared database knows. */
export const KNOWN_CUSTOMERS = 100;

/**
 * What a request may hold, each as long as the twelve digits that take its place: the reference of
 * a shipment is `SHP-` and such digits, different ones in each request.
 */
export const SHIPMENT = "{-shipment-}";
export const CUSTOMER = "{-customer-}";

/**
 * The digits of the shipment with this number, from 1 to a million. Neighbours lie far apart in an
 * index, as those of real references do: the factor has no divisor in common with the modulus, and
 * products stay below 2^53.
 */
export function shipmentDigits(number: number): string {
  return digits((number * 8_999_999_993) % 1_000_000_000_000);
}

/** As `shipmentDigits`, of the SQL expression `i`. */
export const SHIPMENT_DIGITS_SQL =
  "lpad(((i::bigint * 8999999993) % 1000000000000)::text, 12, '0')";

/**
 * Which of so many workspaces, from 0, the shipment belongs to that the request with this number is
 * about. Two requests in a row are of one, so that every workspace has customers known and new.
 */
export function workspaceIndex(request: number, shipments: number, workspaces: number): number {
  return Math.floor((request % shipments) / 2) % workspaces;
}

/** As `workspaceIndex`, of the shipment with the number that is the SQL expression `i`, from 1. */
export function workspaceIndexSql(workspaces: number): string {
  return `((i - 1) / 2) % ${workspaces}`;
}

/** The digits of the customer that the request with this number, from 0, is about: every second one is new. */
export function customerDigits(request: number): string {
  return digits(request % 2 === 0 ? (request / 2) % KNOWN_CUSTOMERS : 1_000 + request);
}

function digits(value: number): string {
  return String(value).padStart(12, "0");
}

/** A text with digits in the places of what it may hold, for the request with this number, from 0. */
export function fillIn(text: string, request: number, shipments: number): string {
  return text
    .replaceAll(SHIPMENT, shipmentDigits((request % shipments) + 1))
    .replaceAll(CUSTOMER, customerDigits(request));
}
