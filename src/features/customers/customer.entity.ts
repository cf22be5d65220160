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
 * Search keys of names: the full name and its last word, in lower case. In byte order, all names with a prefix form
 * one range.
 */
export const NAME_KEY = `lower("name") collate "C"`;
export const LAST_WORD_KEY = `lower(substring("name" from '[^ ]+$')) collate "C"`;
export const HAS_WORDS = `"name" like '% %'`;

const DIGITS = String.raw`regexp_replace(phone, '\D', '', 'g')`;

/** Searched texts of customers. Includes the digits of the phone as one word, also reversed. */
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
  /** Coordinates in degrees. Both are null if only the text was given. */
  readonly lat: number | null;
  readonly lng: number | null;
}

/** A person to whom a workspace ships, unique by workspace, name and email. The case of emails is ignored. */
export const Customer = defineEntity({
  name: "Customer",
  tableName: "customer",
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
    /** Returned with the customer only, never with shipments. */
    notes: p.text().nullable(),
    defaultPickup: p.json().$type<StoredAddress>().nullable(),
    defaultDropoff: p.json().$type<StoredAddress>().nullable(),
    /** Increases with each change. Used as the etag. */
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

/** A customer with all stored fields. */
export type CustomerRecord = Row<Customer, "workspace" | "emailLower" | "createdAt">;

/** A customer as shown with shipments. */
export type CustomerRow = Pick<CustomerRecord, "id" | "name" | "email" | "idNumber">;

const RECORD_COLUMNS = columnsOf(Customer, "workspace", "emailLower", "createdAt");
const COLUMNS = RECORD_COLUMNS.filter(({ property }) =>
  ["id", "name", "email", "idNumber"].includes(property),
);

/**
 * Returns SQL for a `CustomerRow` as JSON.
 *
 * @param table the table or an alias of it
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

/** Returns the customer fields that shipments contain. */
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

/** @param figures `undefined` if not requested */
export function customerRecordMessage(
  record: CustomerRecord,
  figures: RecordOf<CustomerFigures> | undefined,
): CustomerMessage {
  return toMessage({ ...record, figures, etag: String(record.version) });
}
