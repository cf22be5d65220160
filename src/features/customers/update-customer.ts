import { isDeepStrictEqual } from "node:util";
import {
  type CustomerAddressChange,
  CustomerService,
  type UpdateCustomerRequestValid,
  type UpdateCustomerResponse,
} from "../../../gen/shipments/v1/customer_service_pb.js";
import { columnsOf, rowValues } from "../../db/columns.ts";
import { isUniqueViolation } from "../../db/database-error.ts";
import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { refuse, refuseAny, type Violation } from "../../domain/refusal.ts";
import { withIdempotency } from "../idempotency/with-idempotency.ts";
import type { Call } from "../../pipeline/call.ts";
import type { CustomerDeps } from "./customer-figures.ts";
import {
  Customer,
  type CustomerRecord,
  customerRecordMessage,
  type StoredAddress,
} from "./customer.entity.ts";
import { findCustomer } from "./get-customer.ts";
import { foldEmail } from "./link-customers.ts";

/** How many characters notes have at most, as the request's rule says. */
export const MAX_NOTES = 2_000;

/**
 * Changes what is given of a customer. When nothing differs, nothing is written and the etag stays.
 *
 * @throws Refusal CUSTOMER_NOT_FOUND, CUSTOMER_TAKEN when another customer has the name and email, ETAG_STALE,
 *   FIELD_INVALID (half of a point)
 */
export function updateCustomer(
  request: UpdateCustomerRequestValid,
  call: Call,
  { em, loadCustomerFigures }: CustomerDeps,
): Promise<UpdateCustomerResponse> {
  const { workspaceId } = call.caller;
  const method = CustomerService.method.updateCustomer;
  assertWholePoints(request);
  return withIdempotency(em, { method, request, call }, async (tx) => {
    const before = await findCustomer(tx, workspaceId, request.customer, "no key update");
    assertEtag(before, request.etag);
    const changed = { ...before, ...changesOf(before, request) };
    const after = isDeepStrictEqual(changed, before)
      ? before
      : await writeCustomer(tx, workspaceId, changed);
    const figures = await loadCustomerFigures(tx, workspaceId, [after.id]);
    return { data: customerRecordMessage(after, figures.get(after.id)) };
  });
}

function assertWholePoints(request: UpdateCustomerRequestValid): void {
  const given = { default_pickup: request.defaultPickup, default_dropoff: request.defaultDropoff };
  const violations = Object.entries(given).flatMap(([name, at]): Violation[] => {
    if (at === undefined || (at.lat === undefined) === (at.lng === undefined)) return [];
    const [missing, other] = at.lat === undefined ? ["lat", "lng"] : ["lng", "lat"];
    const subject = `${name}.${missing}`;
    const text = `${subject} is required with ${name}.${other}; give both or neither.`;
    return [{ reason: "FIELD_INVALID", subject, text }];
  });
  refuseAny(violations);
}

function assertEtag({ version }: CustomerRecord, etag: string | undefined): void {
  if (!etag || etag === String(version)) return;
  throw refuse(
    "ETAG_STALE",
    "etag is not the customer's any more: it was changed meanwhile. Read it again.",
    { subject: "etag" },
  );
}

/** Blank text empties what is optional. */
function changesOf(before: CustomerRecord, request: UpdateCustomerRequestValid) {
  const textOf = (property: "idNumber" | "phone" | "notes") => {
    const given = request[property];
    return given === undefined ? before[property] : given || null;
  };
  const addressOf = (property: "defaultPickup" | "defaultDropoff", name: string) => {
    const kept = request.clear.includes(name) ? null : before[property];
    return storedAddress(request[property]) ?? kept;
  };
  return {
    name: request.name ?? before.name,
    email: request.email ?? before.email,
    idNumber: textOf("idNumber"),
    phone: textOf("phone"),
    notes: textOf("notes"),
    defaultPickup: addressOf("defaultPickup", "default_pickup"),
    defaultDropoff: addressOf("defaultDropoff", "default_dropoff"),
  };
}

function storedAddress(given: CustomerAddressChange | undefined): StoredAddress | undefined {
  if (given === undefined) return undefined;
  const { address, lat = null, lng = null } = given;
  // Adding 0 makes 0 of -0, which is the same place.
  return { address, lat: lat && lat + 0, lng: lng && lng + 0 };
}

const WRITTEN = columnsOf(Customer, "workspace", "id", "createdAt");

const UPDATE = `
  update customer set ${WRITTEN.map(({ name }, i) => `${name} = $${i + 3}`).join(", ")}
  where workspace_id = $1 and id = $2`;

/**
 * Writes a customer whose row is locked, as a change leaves it, and gives it with its new version.
 *
 * @throws Refusal CUSTOMER_TAKEN
 */
export async function writeCustomer(
  tx: EntityManager,
  workspace: number,
  changed: CustomerRecord,
): Promise<CustomerRecord> {
  const after = { ...changed, version: changed.version + 1 };
  const row = { ...after, emailLower: foldEmail(after.email) };
  try {
    await runStatement(tx, UPDATE, [workspace, after.id, ...rowValues(WRITTEN, row)]);
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw refuse("CUSTOMER_TAKEN");
  }
  return after;
}
