/** Counts all bookings again, with their deliveries. */
export const statements = [`update "booking_roll_up" set "fill_before" = 'infinity'`];
