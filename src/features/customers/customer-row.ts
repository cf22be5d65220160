import type { Customer as CustomerMessage } from "../../../gen/shipments/v1/customer_pb.js";
import { columnsOf, type Row } from "../../db/columns.ts";
import { Customer } from "./customer.entity.ts";

/** A customer as shipments have it. */
export type CustomerRow = Row<Customer, "workspace" | "emailLower" | "createdAt">;

const COLUMNS = columnsOf(Customer, "workspace", "emailLower", "createdAt");

/** What to select for a `CustomerRow`, as JSON, from the table or what stands for it. */
export function customerJson(table: string): string {
  return `json_build_object(${COLUMNS.map(({ property, name }) => `'${property}', ${table}.${name}`).join(", ")})`;
}

/** A customer as callers see it. */
export function customerMessage({
  id,
  name,
  email,
  idNumber,
}: Pick<Customer, keyof CustomerRow>): CustomerMessage {
  return {
    $typeName: "shipments.v1.Customer",
    id: BigInt(id),
    name,
    email,
    idNumber: idNumber ?? undefined,
  };
}
