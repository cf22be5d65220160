import { isDeepStrictEqual } from "node:util";
import type { CustomerAddressChange } from "../../../gen/shipments/v1/customer_service_pb.js";
import { assertEtag, refuseAny, type Violation } from "../../domain/refusal.ts";
import { type CustomerRecord, customerRecordMessage, type StoredAddress } from "./customer.entity.ts";
import { type CustomerFunctions, findCustomer, writeCustomer } from "./customers.ts";
import { listCustomers } from "./list-customers.ts";

type UpdateRequest = Parameters<CustomerFunctions["updateCustomer"]>[0];

export const CUSTOMER_FUNCTIONS: CustomerFunctions = {
  listCustomers,

  async getCustomer(request, { caller: { workspaceId } }, { em, loadCustomerFigures }) {
    const customer = await findCustomer(em, workspaceId, request.customer);
    const figures = await loadCustomerFigures(em, workspaceId, [customer.id]);
    return { data: customerRecordMessage(customer, figures.get(customer.id)) };
  },

  /** If nothing changes, the row and its etag stay the same. */
  async updateCustomer(request, { caller: { workspaceId } }, { em, loadCustomerFigures }) {
    assertWholePoints(request);
    const before = await findCustomer(em, workspaceId, request.customer, "no key update");
    assertEtag("customer", request.etag, String(before.version));
    const changed = { ...before, ...changesOf(before, request) };
    const after = isDeepStrictEqual(changed, before) ? before : await writeCustomer(em, workspaceId, changed);
    const figures = await loadCustomerFigures(em, workspaceId, [after.id]);
    return { data: customerRecordMessage(after, figures.get(after.id)) };
  },
};

function assertWholePoints(request: UpdateRequest): void {
  const changes = { default_pickup: request.defaultPickup, default_dropoff: request.defaultDropoff };
  const violations = Object.entries(changes).flatMap(([name, at]): Violation[] => {
    if (at === undefined || (at.lat === undefined) === (at.lng === undefined)) return [];
    const [missing, other] = at.lat === undefined ? ["lat", "lng"] : ["lng", "lat"];
    const subject = `${name}.${missing}`;
    const text = `${subject} is required with ${name}.${other}. Set both or neither.`;
    return [{ reason: "FIELD_INVALID", subject, text }];
  });
  refuseAny(violations);
}

/** Returns the changed fields. An empty text clears an optional field. */
function changesOf(before: CustomerRecord, request: UpdateRequest) {
  const textOf = (property: "idNumber" | "phone" | "notes") => {
    const change = request[property];
    return change === undefined ? before[property] : change || null;
  };
  const addressOf = (property: "defaultPickup" | "defaultDropoff", name: string) => {
    const unchanged = request.clear.includes(name) ? null : before[property];
    return storedAddress(request[property]) ?? unchanged;
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

function storedAddress(change: CustomerAddressChange | undefined): StoredAddress | undefined {
  if (change === undefined) return undefined;
  const { address, lat = null, lng = null } = change;
  // Adding 0 converts -0 to 0.
  return { address, lat: lat && lat + 0, lng: lng && lng + 0 };
}
