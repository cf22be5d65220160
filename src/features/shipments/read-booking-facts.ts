import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { readRecordId } from "../../db/record-id.ts";
import type { CustomerRow } from "../customers/customer-row.ts";
import { VERSION_IN_FORCE } from "../tariffs/versions/load-version.ts";
import { foldEmail } from "../customers/link-customers.ts";
import type { Booking } from "./booking.ts";

/** The values by which the facts of a booking are looked up. */
export interface BookingQuery {
  readonly workspace: number;
  readonly externalReference: string | undefined;
  readonly customerId: number | undefined;
  readonly name: string;
  readonly email: string;
}

/** What the database has that a booking depends on. */
export interface BookingFacts {
  /** The tariff version in force; null while there is none. */
  readonly tariffVersion: number | null;
  readonly providerConnected: boolean;
  /** The reference of the shipment that already has the booking's external reference. */
  readonly takenBy: string | null;
  /** The customer's row, found by id, else by name and email; null when there is none. */
  readonly customer: CustomerRow | null;
  /** An id for a new customer; null when there is a row. */
  readonly newCustomerId: number | null;
}

/** The values of a booking's request by which its facts are looked up. */
export function bookingQuery({ request, call }: Booking): BookingQuery {
  return {
    workspace: call.caller.workspaceId,
    externalReference: request.externalReference,
    customerId: readRecordId(request.customerId),
    name: request.customerName,
    email: foldEmail(request.customerEmail),
  };
}

/**
 * Reads everything that bookings depend on, in their order, in one round trip: round trips are most
 * of the cost of a booking that is alone in its transaction.
 */
export async function readBookingFacts(
  tx: EntityManager,
  queries: readonly BookingQuery[],
): Promise<BookingFacts[]> {
  const wanted = queries.map((query, place) => ({ ...query, place }));
  return runStatement<BookingFacts>(tx, READ, [JSON.stringify(wanted)]);
}

/** A `CustomerRow`. */
const CUSTOMER_ROW = `json_build_object(
  'id', customer.id, 'name', customer.name, 'email', customer.email, 'idNumber', id_number)`;

/**
 * The values come as JSON because PostgreSQL estimates the rows of an array from its value, and so
 * plans anew each time, which takes longer than the rest. The look-ups are subqueries because each
 * is then an index look-up, whatever the estimated number of rows. The condition on the place always
 * holds: with it PostgreSQL expects one row instead of 100, and a plan so cheap that planning anew
 * never seems worth while; without it, it did for a while after the tables had grown.
 */
const READ = `
  select "tariffVersion", "providerConnected", "takenBy", customer,
    case when customer is null then nextval('customer_id_seq') end::float8 as "newCustomerId"
  from (
    select place,
      ${VERSION_IN_FORCE} as "tariffVersion",
      exists (select from payment_connection where workspace_id = workspace)
        as "providerConnected",
      (select reference from shipment
       where workspace_id = workspace and external_reference = "externalReference") as "takenBy",
      coalesce(
        (select ${CUSTOMER_ROW} from customer
         where workspace_id = workspace and id = "customerId"),
        (select ${CUSTOMER_ROW} from customer
         where workspace_id = workspace and customer.name = wanted.name and email_lower = wanted.email)
      ) as customer
    from json_to_recordset($1) as wanted
      (place int, workspace bigint, "externalReference" text, "customerId" bigint, name text, email text)
    where place between 0 and 1000
    order by place
  ) as facts
  order by place`;
