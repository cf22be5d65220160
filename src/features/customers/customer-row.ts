import type { Customer as CustomerMessage } from "../../../gen/shipments/v1/customer_pb.js";
import type { Customer } from "./customer.entity.ts";

/** A customer, as stored. */
export interface CustomerRow {
  readonly id: number;
  readonly name: string;
  readonly email: string;
  readonly idNumber: string | null;
}

/** A customer as callers see it. */
export function customerMessage({
  id,
  name,
  email,
  idNumber,
}: Pick<Customer, "id" | "name" | "email" | "idNumber">): CustomerMessage {
  return {
    $typeName: "shipments.v1.Customer",
    id: BigInt(id),
    name,
    email,
    idNumber: idNumber ?? undefined,
  };
}
