import { create } from "@bufbuild/protobuf";
import { SearchMatchSchema } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { runStatement } from "../../db/statement.ts";
import { MAX_MATCHES, searchWords, wordsOf } from "../../db/words.ts";
import { mapKey } from "../../domain/clip.ts";
import { matchedPart, searchQuery, type SearchTerm, searchTerms } from "../../domain/search-text.ts";
import { beginsEveryReference, referenceRange } from "../../domain/shipment/shipment-reference.ts";
import { CUSTOMER_TEXTS, CUSTOMER_WORDS, customerMessage, type CustomerRecord } from "../customers/customer.entity.ts";
import { searchCustomers } from "../customers/search-customers.ts";
import type { ShipmentDeps, ShipmentFunctions } from "./shipment-deps.ts";
import { shipmentMessage } from "./shipment-message.ts";
import { SHIPMENT_COLUMN, shipmentRows, type ShipmentRow } from "./shipment-row.ts";
import { indexPredicate, SHIPMENT_TEXTS, SHIPMENT_WORDS } from "./shipment.entity.ts";

const DEFAULT_LIMIT = 8;

/**
 * Finds shipments and customers of the workspace by reference or words. Returns them with the fields that matched.
 */
export const searchShipments: ShipmentFunctions["searchShipments"] = async (
  { text, limit = DEFAULT_LIMIT },
  { caller },
  deps,
) => {
  const terms = searchTerms(text);
  const [rows, customers] = await Promise.all([
    findShipments(deps, caller.workspaceId, { text, terms, limit }),
    searchCustomers(deps.em, caller.workspaceId, { text, terms }, limit),
  ]);
  const shipments = [...new Map(rows.map((row) => [row.reference, row])).values()].slice(0, limit);
  return {
    shipments: shipments.map((row) => shipmentMessage(row, caller)),
    customers: customers.map(customerMessage),
    matches: [
      ...shipments.flatMap((row) => matchesOf({ shipment: row.reference }, shipmentFields(row), terms)),
      ...customers.flatMap((row) => matchesOf({ customer: BigInt(row.id) }, customerFields(row), terms)),
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

/** Returns the searched fields by path. */
function shipmentFields(row: ShipmentMatch): SearchedFields {
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
    "customer.phone": row.customerPhone,
    dropoff_address: row.dropoffAddress,
    pickup_address: row.pickupAddress,
    "courier.name": courier?.name,
    "courier.phone": courier?.phone,
    "courier.external_id": courier?.externalId,
    pickup_contact_name: row.pickupContactName,
    pickup_contact_phone: row.pickupContactPhone,
    pickup_instructions: row.pickupInstructions,
    dropoff_instructions: row.dropoffInstructions,
    package_description: row.packageDescription,
    ...Object.fromEntries(
      row.items.flatMap(({ name, externalId }, i) => [
        [`items[${i}].name`, name],
        [`items[${i}].external_id`, externalId],
      ]),
    ),
    cancel_note: row.cancelNote,
    ...Object.fromEntries(Object.entries(metadata).map(([key, value]) => [`metadata${mapKey(key)}`, value])),
  };
}

function customerFields({ name, email, phone, notes }: CustomerRecord): SearchedFields {
  return { name, email, phone, notes };
}

type ShipmentMatch = ShipmentRow & { readonly customerPhone: string | null };

interface Searched {
  readonly text: string;
  readonly terms: readonly SearchTerm[];
  readonly limit: number;
}

async function findShipments(
  { em, versionFees }: Pick<ShipmentDeps, "em" | "versionFees">,
  workspace: number,
  { text, terms, limit }: Searched,
): Promise<ShipmentMatch[]> {
  if (terms.length === 0) return [];
  const [all, ...parts] = runsOf(terms);
  const contained = terms.map(({ words }) => `%${words.at(-1)}%`);
  // An empty range matches no reference.
  const { first, last } = referenceRange(text) ?? { first: "", last: "" };
  const found = await runStatement<SelectedShipment>(em, NEWEST_AND_NAMED, [
    workspace,
    all!.query,
    limit,
    contained,
    first,
    last,
    beginsEveryReference(text),
  ]);
  const isWorded = ({ kind }: SelectedShipment) => kind === WORDED;
  if (found.filter(isWorded).length < limit) {
    const queries = parts.map(({ query }) => query);
    const rests = parts.map(({ rest }) => rest);
    const values = [workspace, all!.query, limit, contained, [all!.query, ...queries], queries, rests];
    const before = found.findLastIndex(({ kind }) => kind <= WORDED) + 1;
    found.splice(before, 0, ...(await searchWords<SelectedShipment>(em, OLDER, values)));
  }
  const rows = await shipmentRows(
    found.map(({ shipment }) => shipment),
    versionFees,
  );
  return rows.map((row, i) => ({ ...row, customerPhone: found[i]!.phone }));
}

/** Kinds of matches, in the order of the response: by reference, by words, by the beginning of a reference. */
const [NAMED, WORDED, BEGUN] = [1, 2, 3];

interface SelectedShipment {
  readonly kind: number;
  readonly shipment: string;
  readonly phone: string | null;
}

const MAX_RUNS = 6;

/**
 * A run of adjacent terms of a search, such as a customer's name or a street, and the remaining terms. Both are
 * queries.
 */
interface Run {
  readonly query: string;
  readonly rest: string;
}

/** Returns all terms together, followed by shorter runs. */
function runsOf(terms: readonly SearchTerm[]): Run[] {
  const runs = terms.flatMap((_, less) => {
    const length = terms.length - less;
    return terms.slice(length - 1).map((_term, from) => ({
      query: searchQuery(terms.slice(from, from + length)),
      rest: searchQuery(terms.toSpliced(from, length)),
    }));
  });
  return runs.slice(0, MAX_RUNS);
}

/** Number of newest shipments that are searched before the word indexes. */
const NEWEST = 400;
/** Maximum numbers of candidates that match some terms and are compared with all terms. */
const COMPARED = { customers: 30, shipmentsOfCustomer: 10, shipments: 200 };

const ORDER = "shipment.created_at desc, shipment.reference desc";

function newest(count: number | string, condition = ""): string {
  return `select * from shipment
    where workspace_id = $1 and ${indexPredicate("shipment_by_age")} ${condition}
    order by ${ORDER} limit ${count}`;
}

/** Searched texts of shipments and their customers. Omits the customers' notes, which are not part of a shipment. */
const TEXTS = [...SHIPMENT_TEXTS, ...CUSTOMER_TEXTS.filter((text) => !text.includes("notes"))];

/**
 * Joins the customer and selects shipments with all terms. First compares substrings, which takes a tenth of the time
 * of matching words.
 */
const WITH_ALL_TERMS = `
  join customer on customer.workspace_id = $1 and customer.id = shipment.customer_id
  where case when lower(concat_ws(' ', ${TEXTS.join(", ")})) like all (array(select lower(part) from unnest($4::text[]) as part))
    then ${wordsOf(TEXTS)} @@ lower($2)::tsquery else false end`;

const SELECTED = `select kind, ${SHIPMENT_COLUMN}, (
  select phone from customer where customer.workspace_id = $1 and customer.id = s.customer_id) as phone`;
const IN_ORDER = "as s order by kind, created_at desc, reference desc";

/** Selects shipments by reference, and the newest shipments with all terms. */
const NEWEST_AND_NAMED = `
  with recent as materialized (
    select shipment.* from (${newest(NEWEST)}) as shipment ${WITH_ALL_TERMS} order by ${ORDER} limit $3)
  ${SELECTED} from (
    (select ${NAMED} as kind, * from shipment
     where workspace_id = $1 and reference >= $5 and reference <= $6 order by reference limit $3)
    union all select ${WORDED} as kind, * from recent
    union all (select ${BEGUN} as kind, * from (${newest("$3", "and $7")}) as newest)
  ) ${IN_ORDER}`;

/**
 * Selects shipments that contain all terms, from the word indexes. A shipment and its customer can each contain a part
 * of the terms, so these candidates are compared with all terms:
 *
 * - shipments that contain a run of adjacent terms, if some customer contains the remaining terms
 * - shipments of customers that contain a run
 *
 * If all shipments that contain a run are compared, those that contain all terms are among them, and no separate search
 * is needed. With three or more terms, the first run is therefore always read: it contains only whole words, which are
 * found in half the time.
 */
const OLDER = `
  with split as materialized (
    select * from unnest($6::text[], $7::text[]) with ordinality as run (query, rest, number)
    where number = 1 and cardinality($6::text[]) > 2 or (select true from (${CUSTOMER_WORDS.matches("customer.id", "run.rest")} limit 1) as customer)),
  partly as materialized (
    select query, reference from split
    cross join lateral (${SHIPMENT_WORDS.matches("shipment.reference", "query")} limit ${COMPARED.shipments}) as shipment),
  found as materialized (
    select * from (
      ${SHIPMENT_WORDS.matches("shipment.*", "$2")} limit ${MAX_MATCHES}) as shipment
    where not exists (
      select from split
      where (select count(*) from partly where partly.query = split.query) < ${COMPARED.shipments})
    order by ${ORDER} limit $3),
  compared as materialized (
    select distinct on (shipment.created_at, shipment.reference) shipment.* from (
      select shipment.* from unnest($5::text[]) as run
      cross join lateral (${CUSTOMER_WORDS.matches("customer.id", "run")} limit ${COMPARED.customers}) as customer
      cross join lateral (
        select * from shipment where workspace_id = $1 and customer_id = customer.id
        limit ${COMPARED.shipmentsOfCustomer}) as shipment
      where (select count(*) from found) < $3
      union all
      select shipment.* from partly
      cross join lateral (select * from shipment where workspace_id = $1 and reference = partly.reference) as shipment
    ) as shipment ${WITH_ALL_TERMS} order by ${ORDER} limit $3)
  ${SELECTED} from (
    select ${WORDED} as kind, * from found
    union all select ${WORDED} as kind, * from compared
  ) ${IN_ORDER}`;
