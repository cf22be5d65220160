import { beginsWith } from "../../db/begins-with.ts";
import { beginsEveryReference, referenceRange } from "../../domain/shipment/shipment-reference.ts";
import { customerMessage } from "../customers/customer.entity.ts";
import { searchCustomers } from "../customers/search-customers.ts";
import type { ShipmentDeps, ShipmentFunctions } from "./shipment-deps.ts";
import { shipmentMessage } from "./shipment-message.ts";
import { selectShipments, SHIPMENT_COLUMN, type ShipmentRow } from "./shipment-row.ts";
import { indexPredicate, SEARCH_KEYS } from "./shipment.entity.ts";

const DEFAULT_LIMIT = 8;

/** Finds shipments and customers of the workspace by how something about them begins. */
export const searchShipments: ShipmentFunctions["searchShipments"] = async (
  { text, limit = DEFAULT_LIMIT },
  { caller },
  deps,
) => {
  const [rows, customers] = await Promise.all([
    findShipments(deps, caller.workspaceId, text, limit),
    searchCustomers(deps.em, caller.workspaceId, text, limit),
  ]);
  const shipments = new Map(rows.map((row) => [row.reference, row]));
  return {
    shipments: [...shipments.values()].slice(0, limit).map((row) => shipmentMessage(row, caller)),
    customers: customers.map(customerMessage),
  };
};

/** Each kind of match is read in order from an index of its own, and no further than the limit. */
function findShipments(
  deps: Pick<ShipmentDeps, "em" | "versionFees">,
  workspace: number,
  text: string,
  limit: number,
): Promise<ShipmentRow[]> {
  // Without a range no reference is between the bounds.
  const { first, last } = referenceRange(text) ?? { first: "", last: "" };
  const values = [workspace, text, limit, first, last, beginsEveryReference(text)];
  return selectShipments(deps, SEARCH, values);
}

function branch(kind: number, key: string, condition: string): string {
  return `(select ${kind} as kind, shipment.* from shipment
    where workspace_id = $1 and ${beginsWith(key, "$2")} ${condition}
    order by ${key}, created_at desc limit $3)`;
}

const SEARCH = `select ${SHIPMENT_COLUMN} from (
  (select 1 as kind, shipment.* from shipment
   where workspace_id = $1 and reference >= $4 and reference <= $5 order by reference limit $3)
  union all ${branch(2, SEARCH_KEYS.externalReference, "and external_reference is not null")}
  union all ${branch(3, SEARCH_KEYS.dropoffAddress, "and dropoff_address <> ''")}
  union all ${branch(4, SEARCH_KEYS.pickupAddress, "and pickup_address <> ''")}
  union all (select 5 as kind, shipment.* from shipment
    where workspace_id = $1 and ${indexPredicate("shipment_by_age")} and $6
    order by created_at desc, reference desc limit $3)
  ) as s order by kind, created_at desc`;
