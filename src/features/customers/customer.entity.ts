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
 * What names are searched by: all of it, and its last word where there are several, in lower case and in
 * the order of bytes, in which what begins with a text is one range.
 */
export const NAME_KEY = `lower("name") collate "C"`;
export const LAST_WORD_KEY = `lower(substring("name" from '[^ ]+$')) collate "C"`;
export const HAS_WORDS = `"name" like '% %'`;

const DIGITS = String.raw`regexp_replace(phone, '\D', '', 'g')`;

/** The texts that customers are searched by: of phones also all digits in one word, and reversed. */
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
  /** Its point, in degrees; null, both, when only the text was given. */
  readonly lat: number | null;
  readonly lng: number | null;
}

/**
 * A person that a workspace ships for; one row for each workspace, name and email, where emails
 * that differ only in case are the same.
 */
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
    /** Shown with the customer alone, never with shipments. */
    notes: p.text().nullable(),
    defaultPickup: p.json().$type<StoredAddress>().nullable(),
    defaultDropoff: p.json().$type<StoredAddress>().nullable(),
    /** Goes up by one with every change; the etag. */
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

/** A customer with all that is kept of them. */
export type CustomerRecord = Row<Customer, "workspace" | "emailLower" | "createdAt">;

/** A customer as shipments have it. */
export type CustomerRow = Pick<CustomerRecord, "id" | "name" | "email" | "idNumber">;

const RECORD_COLUMNS = columnsOf(Customer, "workspace", "emailLower", "createdAt");
const COLUMNS = RECORD_COLUMNS.filter(({ property }) =>
  ["id", "name", "email", "idNumber"].includes(property),
);

/** What to select for a `CustomerRow`, as JSON, from the table or what stands for it. */
export function customerJson(table: string): string {
  return jsonOf(COLUMNS, table);
}

export function customerRecordJson(table: string): string {
  return jsonOf(RECORD_COLUMNS, table);
}

function jsonOf(columns: ReturnType<typeof columnsOf>, table: string): string {
  return `json_build_object(${columns.map(({ property, name }) => `'${property}', ${table}.${name}`).join(", ")})`;
}

/** A customer as callers see it with a shipment: without the rest. */
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

/** @param figures undefined where they were not requested */
export function customerRecordMessage(
  record: CustomerRecord,
  figures: RecordOf<CustomerFigures> | undefined,
): CustomerMessage {
  return toMessage({ ...record, figures, etag: String(record.version) });
}
