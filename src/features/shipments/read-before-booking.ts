import { foldEmail } from "../customers/link-customers.ts";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";

/** What a booking is looked up by. */
export interface SoughtBooking {
  readonly workspace: number;
  readonly externalReference: string | undefined;
  readonly customerId: number | undefined;
  readonly name: string;
  readonly email: string;
}

/** What a booking depends on, as the database has it. */
export interface BookingFacts {
  /** The tariff version in force; null while there is none. */
  readonly tariffVersion: number | null;
  readonly providerConnected: boolean;
  /** The reference of the shipment that has the booking's external reference already. */
  readonly takenBy: string | null;
  /** The row of the workspace's customer, by id if it has that one, else by name and email. */
  readonly customer: Record<string, unknown> | null;
  /** A number for a new customer, where there is none. */
  readonly newCustomerId: number | null;
}

/**
 * Reads all that bookings depend on, in their order, in a single round trip: with one booking at a
 * time, most of what a booking costs is going to the database and back.
 */
export async function readBeforeBooking(
  tx: EntityManager,
  sought: readonly SoughtBooking[],
): Promise<BookingFacts[]> {
  const asked = sought.map((one, place) => ({ ...one, email: foldEmail(one.email), place }));
  return runStatement<BookingFacts>(tx, READ, [JSON.stringify(asked)]);
}

/**
 * As JSON, since PostgreSQL looks into arrays to guess how many rows they make, and so plans anew
 * each time; that takes longer than the rest. Subqueries, since each of them is an index look-up
 * whatever the number of rows is taken to be.
 */
const READ = `
  select "tariffVersion", "providerConnected", "takenBy", customer,
    case when customer is null then nextval('customer_id_seq') end::float8 as "newCustomerId"
  from (
    select place,
      (select max(version) from tariff_version) as "tariffVersion",
      exists (select from payment_connection where workspace_id = workspace)
        as "providerConnected",
      (select reference from shipment
       where workspace_id = workspace and external_reference = "externalReference") as "takenBy",
      coalesce(
        (select to_json(customer) from customer
         where workspace_id = workspace and id = "customerId"),
        (select to_json(customer) from customer
         where workspace_id = workspace and customer.name = sought.name and email_lower = sought.email)
      ) as customer
    from json_to_recordset($1) as sought
      (place int, workspace bigint, "externalReference" text, "customerId" bigint, name text, email text)
    order by place
  ) as facts
  order by place`;
