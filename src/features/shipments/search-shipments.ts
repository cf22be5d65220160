import { create } from "@bufbuild/protobuf";
import { SearchMatchSchema } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { hasWords, MOST_FOUND } from "../../db/words.ts";
import { mapKey } from "../../domain/clip.ts";
import { matchedPart, type SearchTerm, searchTerms } from "../../domain/search-text.ts";
import { beginsEveryReference, referenceRange } from "../../domain/shipment/shipment-reference.ts";
import { customerMessage, type CustomerRecord } from "../customers/customer.entity.ts";
import { searchCustomers } from "../customers/search-customers.ts";
import type { ShipmentDeps, ShipmentFunctions } from "./shipment-deps.ts";
import { shipmentMessage } from "./shipment-message.ts";
import { selectShipments, SHIPMENT_COLUMN, type ShipmentRow } from "./shipment-row.ts";
import { indexPredicate, SHIPMENT_WORDS } from "./shipment.entity.ts";

const DEFAULT_LIMIT = 8;

/** Finds shipments and customers of the workspace by a reference or by words, and returns the fields that matched. */
export const searchShipments: ShipmentFunctions["searchShipments"] = async (
  { text, limit = DEFAULT_LIMIT },
  { caller },
  deps,
) => {
  const [rows, customers] = await Promise.all([
    findShipments(deps, caller.workspaceId, text, limit),
    searchCustomers(deps.em, caller.workspaceId, text, limit),
  ]);
  const shipments = [...new Map(rows.map((row) => [row.reference, row])).values()].slice(0, limit);
  const terms = searchTerms(text);
  return {
    shipments: shipments.map((row) => shipmentMessage(row, caller)),
    customers: customers.map(customerMessage),
    matches: [
      ...shipments.flatMap((row) =>
        matchesOf({ shipment: row.reference }, shipmentFields(row), terms),
      ),
      ...customers.flatMap((row) =>
        matchesOf({ customer: BigInt(row.id) }, customerFields(row), terms),
      ),
    ].map((match) => create(SearchMatchSchema, match)),
  };
};

type SearchedFields = Readonly<Record<string, string | null | undefined>>;

function matchesOf<Of>(of: Of, fields: SearchedFields, terms: readonly SearchTerm[]) {
  return Object.entries(fields).flatMap(([field, text]) => {
    const value = matchedPart(terms, text ?? "");
    return value === undefined ? [] : [{ ...of, field, value }];
  });
}

/** The fields that `SEARCH` looks at, by their paths. */
function shipmentFields(row: ShipmentRow): SearchedFields {
  const { customer, metadata, progress } = row;
  const courier = progress?.courier;
  return {
    reference: row.reference,
    external_reference: row.externalReference,
    recipient_name: row.recipientName,
    recipient_phone: row.recipientPhone,
    recipient_email: row.recipientEmail,
    "customer.name": customer.name,
    "customer.email": customer.email,
    dropoff_address: row.dropoffAddress,
    pickup_address: row.pickupAddress,
    "courier.name": courier?.name,
    "courier.phone": courier?.phone,
    "courier.external_id": courier?.externalId,
    cancel_note: row.cancelNote,
    ...Object.fromEntries(
      Object.entries(metadata).map(([key, value]) => [`metadata${mapKey(key)}`, value]),
    ),
  };
}

function customerFields({ name, email, phone, notes }: CustomerRecord): SearchedFields {
  return { name, email, phone, notes };
}

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

/** How many of the newest shipments are looked through for words, before an index of words is. */
const NEWEST = 1_000;

const ORDER = "created_at desc, reference desc";
const WORDS = hasWords(SHIPMENT_WORDS, "$1", "$2");

function newest(count: number | string, condition = ""): string {
  return `select * from shipment
    where workspace_id = $1 and ${indexPredicate("shipment_by_age")} ${condition}
    order by ${ORDER} limit ${count}`;
}

/**
 * What has frequent words is found among the newest; what is not, in the index, which gives all that have the words in
 * no order.
 */
const SEARCH = `
  with recent as materialized (
    select * from (${newest(NEWEST)}) as shipment where ${WORDS} order by ${ORDER} limit $3)
  select ${SHIPMENT_COLUMN} from (
    (select 1 as kind, * from shipment
     where workspace_id = $1 and reference >= $4 and reference <= $5 order by reference limit $3)
    union all select 2 as kind, * from recent
    union all (select 2 as kind, * from (
      select * from shipment
      where (select count(*) from recent) < $3 and workspace_id = $1 and ${WORDS}
      limit ${MOST_FOUND}) as found
      order by ${ORDER} limit $3)
    union all (select 3 as kind, * from (${newest("$3", "and $6")}) as newest)
  ) as s order by kind, ${ORDER}`;
