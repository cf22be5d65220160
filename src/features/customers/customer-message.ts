import { create } from "@bufbuild/protobuf";
import {
  CustomerSchema,
  type Customer as CustomerMessage,
} from "../../../gen/shipments/v1/customer_pb.js";
import type { Customer } from "./customer.entity.ts";

/** A customer as callers see it. */
export function customerMessage({ id, name, email, idNumber }: Customer): CustomerMessage {
  return create(CustomerSchema, {
    id: BigInt(id),
    name,
    email,
    idNumber: idNumber ?? undefined,
  });
}
