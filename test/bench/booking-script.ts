import { IN_FORCE, INSERT_EVENT, INSERT_SHIPMENT, LINK_CUSTOMER } from "./servers/booking-sql.ts";
import { booking, KNOWN_CUSTOMERS, PRICE, ROUTE } from "./shipments.ts";

/**
 * The script with which pgbench books as the Fastify peer does: the same statements with the same
 * values, half of the customers new. `:workspace` and `:event_data` are to be given.
 */
export function bookingScript(): string {
  const { pickup_address, dropoff_address } = booking(0);
  const email = "'customer' || :customer_number || '@example.org'";
  const shipment = [
    ":workspace",
    ":reference",
    ":customer",
    `'${pickup_address}'`,
    ROUTE.pickup_lat,
    ROUTE.pickup_lng,
    `'${dropoff_address}'`,
    ROUTE.dropoff_lat,
    ROUTE.dropoff_lng,
    ROUTE.weight_kg,
    ...PRICE,
    ":tariff",
    "now()",
  ];
  const event = [":workspace", ":reference", 1, "'shipment.created'", ":event_data", "now()"];
  return [
    "\\set number random(1, 999999999999)",
    "\\set customer_number :number + 1000",
    "\\set is_known random(0, 1)",
    "\\if :is_known",
    `\\set customer_number random(0, ${KNOWN_CUSTOMERS - 1})`,
    "\\endif",
    "begin;",
    `${withValues(IN_FORCE, [":workspace"])} \\gset`,
    `${withValues(LINK_CUSTOMER, [":workspace", "'Customer ' || :customer_number", email, email, "now()"])} \\gset`,
    `${withValues(INSERT_SHIPMENT, shipment)};`,
    `${withValues(INSERT_EVENT, event)};`,
    "commit;",
    "",
  ]
    .join("\n")
    .replaceAll(":reference", "'SHP-' || lpad(:number::text, 12, '0')");
}

/** A statement with expressions in the places of its parameters, on one line. */
function withValues(statement: string, values: readonly (string | number)[]): string {
  return statement
    .replaceAll(/\$(\d+)/g, (_, number) => String(values[Number(number) - 1]))
    .replaceAll(/\s+/g, " ");
}
