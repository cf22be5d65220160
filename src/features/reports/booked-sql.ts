/**
 * The day in UTC on which a shipment was booked. Group by it, and cast only what has been grouped to text:
 * writing the day of every shipment as text takes half of the time.
 */
export const BOOKED_DATE = "(created_at at time zone 'UTC')::date";

/**
 * The figures of a group of shipments, as in `Booked`. A shipment that is paid or awaits its payment has
 * not been cancelled; revenue is what is paid.
 */
export const BOOKED_FIGURES = `
  count(*)::float8 as bookings,
  (count(*) filter (where status = 'cancelled'))::float8 as cancellations,
  (count(*) filter (where quoted))::float8 as quoted,
  coalesce(sum(total_minor) filter (where payment_status = 'paid'), 0)::float8 as "paidMinor",
  coalesce(sum(total_minor) filter (where payment_status = 'awaiting_payment'), 0)::float8
    as "awaitingMinor"`;
