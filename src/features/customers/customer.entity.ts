import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { Workspace } from "../workspaces/workspace.entity.ts";
import {
  type Customer as CustomerMessage,
  type CustomerFigures,
  CustomerSchema,
} from "../../../gen/shipments/v1/customer_pb.js";
import { compileToMessage, type RecordOf } from "../../json/records.ts";
import { columnsOf, type Row } from "../../db/columns.ts";
import { wordIndex } from "../../db/words.ts";
import { REVERSED_MARK } from "../../domain/search-text.ts";

/**
 * SQL for the search keys of a name: the full name and its last word, in lower case. In byte order,
 * all names with the same prefix are adjacent.
 */
export const NAME_KEY = `lower("name") collate "C"`;
export const LAST_WORD_KEY = `lower(substring("name" from '[^ ]+$')) collate "C"`;
export const HAS_WORDS = `"name" like '% %'`;

const DIGITS = String.raw`regexp_replace(phone, '\D', '', 'g')`;

/**
 * SQL for the texts of a customer that a search covers. The digits of the phone number are included
 * as one word, also in reverse.
 */
export const CUSTOMER_TEXTS = [
  "name",
  "email",
  "phone",
  DIGITS,
  `'${REVERSED_MARK}' || reverse(${DIGITS})`,
  "left(notes, 500)",
];

const SLOTS = 32;

export const CUSTOMER_WORDS = wordIndex(
  "customer",
  CUSTOMER_TEXTS,
  `(id % ${SLOTS})::text`,
  `array(select generate_series(0, ${SLOTS - 1})::text)`,
);

export interface StoredAddress {
  readonly address: string;
  /** Latitude in degrees. Both coordinates are null if only the text was given. */
  readonly lat: number | null;
  readonly lng: number | null;
}

/** A person to whom a workspace ships. Unique by workspace, name and email, ignoring the case of the email. */
export const Customer = defineEntity({
  name: "Customer",
  primaryKeys: ["workspace", "id"],
  properties: {
    workspace: () => p.manyToOne(Workspace).mapToPk().primary(),
    id: p.bigint("number").primary().autoincrement(),
    name: p.text(),
    email: p.text(),
    emailLower: p.text(),
    idNumber: p.text().nullable(),
    createdAt: p.datetime(3),
    phone: p.text().nullable(),
    /** Returned only with the customer, never with shipments. */
    notes: p.text().nullable(),
    defaultPickup: p.json().$type<StoredAddress>().nullable(),
    defaultDropoff: p.json().$type<StoredAddress>().nullable(),
    /** Version that increases with each change. Used as the etag. */
    version: p.integer().default(1),
  },
  uniques: [{ name: "customer_once", properties: ["workspace", "name", "emailLower"] }],
  indexes: [
    { name: "customer_by_email", properties: ["workspace", "emailLower", "id"] },
    {
      name: "customer_by_name",
      expression: `create index "customer_by_name" on "customer" ("workspace_id", (${NAME_KEY}), "id")`,
    },
    {
      name: "customer_by_last_word",
      expression: `create index "customer_by_last_word" on "customer" ("workspace_id", (${LAST_WORD_KEY}), "id") where ${HAS_WORDS}`,
    },
    {
      name: "customer_words",
      expression: `create index "customer_words" on "customer" using gin ((${CUSTOMER_WORDS.words})) with (gin_pending_list_limit = 64)`,
    },
  ],
  checks: [
    { name: "customer_name_given", expression: "name <> ''" },
    { name: "customer_email_lower", expression: "email_lower = lower(email) and email <> ''" },
  ],
});

export type Customer = InferEntity<typeof Customer>;

/** All stored fields of a customer. */
export type CustomerRecord = Row<Customer, "workspace" | "emailLower" | "createdAt">;

/** Fields of a customer that are returned with shipments. */
export type CustomerRow = Pick<CustomerRecord, "id" | "name" | "email" | "idNumber">;

const RECORD_COLUMNS = columnsOf(Customer, "workspace", "emailLower", "createdAt");
const COLUMNS = RECORD_COLUMNS.filter(({ property }) => ["id", "name", "email", "idNumber"].includes(property));

/**
 * Returns SQL for a `CustomerRow` as JSON.
 *
 * @param table name or alias of the table
 */
export function customerJson(table: string): string {
  return jsonOf(COLUMNS, table);
}

export function customerRecordJson(table: string): string {
  return jsonOf(RECORD_COLUMNS, table);
}

function jsonOf(columns: ReturnType<typeof columnsOf>, table: string): string {
  return `json_build_object(${columns.map(({ property, name }) => `'${property}', ${table}.${name}`).join(", ")})`;
}

export function customerRecord({ id, name, email, idNumber }: CustomerRow) {
  return {
    id,
    name,
    email,
    idNumber,
    phone: null,
    notes: null,
    defaultPickup: null,
    defaultDropoff: null,
    figures: null,
    etag: null,
  };
}

const toMessage = compileToMessage(CustomerSchema);

export function customerMessage(row: CustomerRow): CustomerMessage {
  return toMessage(customerRecord(row));
}

/**
 * Returns a customer as an API message.
 *
 * @param figures report totals. `undefined` if not requested
 */
export function customerRecordMessage(
  record: CustomerRecord,
  figures: RecordOf<CustomerFigures> | undefined,
): CustomerMessage {
  return toMessage({ ...record, figures, etag: String(record.version) });
}
