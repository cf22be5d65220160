import type { StateFilter } from "../../domain/shipment/shipment-state.ts";

/** The indexes that serve lists, one for each set of columns that a list is filtered by. */
export type ListIndex =
  | "shipment_by_age"
  | "shipment_by_status"
  | "shipment_by_payment_status"
  | "shipment_by_customer"
  | "shipment_by_customer_and_status"
  | "shipment_by_customer_and_payment_status";

/**
 * Makes PostgreSQL read a list from the index that fits its filters. PostgreSQL has no index hints,
 * and all list indexes are in the order of the list, so by its statistics it may take one that
 * lacks a filtered column and walk past every shipment that the filter leaves out.
 *
 * Each list index is therefore partial, with a predicate of its own that is true of every row: that
 * the reference is not the index's name. PostgreSQL uses a partial index only for queries that
 * state its predicate, so a query that states one predicate can be read from that index alone. The
 * name is a literal: a value apart from the statement would not be known when it is planned.
 *
 * @returns the `where` of the index, and of a query
 * @param table `s.` where the query names its table
 */
export function indexPredicate(index: ListIndex, table = ""): string {
  return `${table}reference <> '${index}'`;
}

/** The index for a list that is filtered by a state and a customer, or by neither. */
export function listIndexFor(state: StateFilter, customerId: number | undefined): ListIndex {
  const column =
    "status" in state ? "status" : "paymentStatus" in state ? "payment_status" : undefined;
  if (customerId === undefined) {
    return column === undefined ? "shipment_by_age" : `shipment_by_${column}`;
  }
  return column === undefined ? "shipment_by_customer" : `shipment_by_customer_and_${column}`;
}
