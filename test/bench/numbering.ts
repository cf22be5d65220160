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
