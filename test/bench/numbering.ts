/** Number of customers in a prepared database. */
export const KNOWN_CUSTOMERS = 100;

/**
 * Tokens in a request, which are replaced by twelve digits. The digits for a shipment follow `SHP-`
 * in its reference and differ in each request.
 */
export const SHIPMENT = "{-shipment-}";
export const CUSTOMER = "{-customer-}";

/**
 * Returns the digits in the reference of a shipment with a number from 1 to a million. Consecutive numbers are far
 * apart in an index, like real references: the factor is coprime to the modulus. Products stay below 2^53.
 */
export function shipmentDigits(number: number): string {
  return digits((number * 8_999_999_993) % 1_000_000_000_000);
}

/** SQL for `shipmentDigits` of the expression `i`. */
export const SHIPMENT_DIGITS_SQL = "lpad(((i::bigint * 8999999993) % 1000000000000)::text, 12, '0')";

/** Returns the customer digits for a request number from 0. Every second customer is new. */
export function customerDigits(request: number): string {
  return digits(request % 2 === 0 ? (request / 2) % KNOWN_CUSTOMERS : 1_000 + request);
}

function digits(value: number): string {
  return String(value).padStart(12, "0");
}

/** Replaces a text's tokens for a request number from 0. */
export function fillIn(text: string, request: number, shipments: number): string {
  return text
    .replaceAll(SHIPMENT, shipmentDigits((request % shipments) + 1))
    .replaceAll(CUSTOMER, customerDigits(request));
}
