import type { CustomerService } from "../../../gen/shipments/v1/customer_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import type { ServiceFunctions } from "../../pipeline/rpc.ts";
import { getCustomer } from "./get-customer.ts";
import { listCustomers } from "./list-customers.ts";

/** The functions behind `shipments.v1.CustomerService`. */
export function customerService(em: EntityManager): ServiceFunctions<typeof CustomerService> {
  return {
    getCustomer: (request, call) => getCustomer(request, call, em),
    listCustomers: (request, call) => listCustomers(request, call, em),
  };
}
