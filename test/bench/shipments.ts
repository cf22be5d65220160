/** How many customers a prepared database knows. */
export const KNOWN_CUSTOMERS = 100;

/**
 * The reference of the shipment with this number, from 1 to a million, in a prepared database.
 * Neighbours lie far apart in an index, as those of real references do: the factor has no divisor
 * in common with the modulus, and products stay below 2^53, so that every load generator agrees.
 */
export function shipmentName(number: number): string {
  return `SHP-${String((number * 8_999_999_993) % 1_000_000_000_000).padStart(12, "0")}`;
}

/** As `shipmentName`, of the SQL expression `i`. */
export const SHIPMENT_NAME_SQL =
  "'SHP-' || lpad(((i::bigint * 8999999993) % 1000000000000)::text, 12, '0')";

/**
 * The number of the customer that a booking is for: half are known, half are new.
 *
 * @param booking the number of the booking, from 0
 */
export function customerNumber(booking: number): number {
  return booking % 2 === 0 ? (booking / 2) % KNOWN_CUSTOMERS : 1_000 + booking;
}

/** A route in the middle of New York City. */
export const ROUTE = {
  pickup_lat: 40.758,
  pickup_lng: -73.9855,
  dropoff_lat: 40.6782,
  dropoff_lng: -73.9442,
  weight_kg: 2.5,
} as const;

/**
 * What that route costs with the bench's tariff, in SQL, in the order of the columns: kilometres,
 * fees and sums in minor units, currency.
 */
export const PRICE = [9.532, 1144, 125, 500, 1269, 1269, "'USD'"] as const;

/** A booking of that route for the customer with this number. */
export function booking(customer: number | "{customer}") {
  return {
    customer_name: `Customer ${customer}`,
    customer_email: `customer${customer}@example.org`,
    pickup_address: "1 Times Square, New York",
    dropoff_address: "95 Prospect Park West, Brooklyn",
    ...ROUTE,
  };
}
