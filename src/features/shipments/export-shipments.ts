import { create } from "@bufbuild/protobuf";
import {
  ExportShipmentsResponseSchema,
  type ExportShipmentsResponse,
} from "../../../gen/shipments/v1/shipment_service_pb.js";
import { ShipmentSchema } from "../../../gen/shipments/v1/shipment_pb.js";
import { createSemaphore } from "../../db/semaphore.ts";
import { runStatement } from "../../db/statement.ts";
import { refuse, type Refusal } from "../../domain/refusal.ts";
import { statesWith } from "../../domain/shipment/shipment-state.ts";
import type { ShipmentFunctions } from "./shipment-deps.ts";
import { holdHeapGrowth } from "./heap-growth.ts";
import { listParts, readShipmentFilters, selectListed } from "./shipment-filters.ts";
import { shipmentJson } from "./shipment-message.ts";
import { selectShipments, SHIPMENT_COLUMN } from "./shipment-row.ts";

const MOST = 1_000_000;
/** How many are read and sent at a time: 10 at first, then as many as make about a piece, 100 at most. */
const FIRST_BATCH = 10;
const MAX_BATCH = 100;
/** How many batches this process reads at a time, for all exports: the others wait in memory for a reader only. */
const turn = createSemaphore(2);
/** About how large a piece is, which waits in memory until its reader takes it. */
const PIECE_BYTES = 64 * 1024;
/** How large a piece is at most; a message in JSON is larger by a third. */
const MAX_PIECE_BYTES = 1024 * 1024;

/**
 * Sends the shipments that a list with these filters has, newest first, as a file of comma-separated values
 * (RFC 4180, UTF-8 with a byte order mark) whose first line names the columns. Each is as it is when its
 * lines are read; what is booked meanwhile is left out. Ends early when `signal` aborts.
 */
export const exportShipments: ShipmentFunctions["exportShipments"] = async function* (
  request,
  { caller },
  deps,
  signal,
) {
  const filters = readShipmentFilters(caller.workspaceId, request);
  const states = statesWith(filters);
  if (states.length === 0) return yield fileOf(HEADER);

  const values: unknown[] = [caller.workspaceId];
  const parts = listParts(states, filters, values);
  const exceeds = `select exists (select from (${selectListed("s.reference", parts, "")}) as listed offset ${MOST}) as exceeds`;
  const [found] = await runStatement<{ exceeds: boolean }>(deps.em, exceeds, values);
  if (found?.exceeds) throw tooMany();
  yield fileOf(HEADER);

  const [atTime, atReference, limit] = [1, 2, 3].map((more) => `$${values.length + more}`);
  const older = `(s.created_at, s.reference) < (${atTime}, ${atReference})`;
  const left = parts.map((part) => `${part} and ${older}`);
  const sql = selectListed(SHIPMENT_COLUMN, left, `limit ${limit}`);
  /** Apart, so that rows are not kept while their lines wait for a reader. */
  const readBatch = async (last: readonly string[], size: number) => {
    await turn.acquire();
    try {
      // Its reader may have gone while others had their turn.
      if (signal.aborted) return { pieces: [], last: undefined };
      const rows = await selectShipments(deps, sql, [...values, ...last, size]);
      const end = rows.length < size ? undefined : rows.at(-1)!;
      return {
        pieces: piecesOf(rows.map((row) => lineOf(shipmentJson(row, caller)))),
        last: end && [end.createdAt.toISOString(), end.reference],
      };
    } finally {
      turn.release();
    }
  };
  let last: readonly string[] | undefined = ["infinity", ""];
  let size = FIRST_BATCH;
  const release = holdHeapGrowth();
  try {
    while (last !== undefined && !signal.aborted) {
      const batch = await readBatch(last, size);
      for (const piece of batch.pieces) yield fileOf(piece);
      const bytes = batch.pieces.reduce((sum, piece) => sum + piece.length, 1);
      size = Math.min(MAX_BATCH, Math.max(1, Math.floor((size * PIECE_BYTES) / bytes)));
      last = batch.last;
    }
  } finally {
    release();
  }
};

function fileOf(lines: Buffer): ExportShipmentsResponse {
  return create(ExportShipmentsResponseSchema, { csv: lines });
}

/** Lines of a file in pieces. No line is longer than `MAX_PIECE_BYTES`. */
function piecesOf(lines: readonly string[]): Buffer[] {
  const piece = Buffer.from(lines.join(""));
  if (piece.length === 0) return [];
  if (piece.length <= MAX_PIECE_BYTES || lines.length === 1) return [piece];
  const half = lines.length / 2;
  return [...piecesOf(lines.slice(0, half)), ...piecesOf(lines.slice(half))];
}

function tooMany(): Refusal {
  return refuse(
    "FIELD_INVALID",
    "More than 1,000,000 shipments pass the filters; take fewer at a time with created_after and created_before.",
    { subject: "created_after" },
  );
}

type Cell = string | number | object | null | undefined;

/** The first columns in their order, as paths in a shipment's JSON. */
const FIRST = `reference external_reference status payment_status created_at
  customer.id customer.name customer.email customer.id_number
  pickup_address pickup_lat pickup_lng pickup_window.start pickup_window.end
  dropoff_address dropoff_lat dropoff_lng dropoff_window.start dropoff_window.end
  weight_kg distance_km distance_fee weight_fee window_fee subtotal base_fee total currency
  payment_details.refunded_amount cancelled_at cancel_reason cancel_note created_by updated_at metadata
  payment_details.disputed_amount tracking_url stage delivered_at returned_at
  courier.name courier.phone courier.vehicle courier.external_id pickup_eta dropoff_eta
  attempts`.split(/\s+/);
const LEFT_OUT = ["etag", "test", "quote_id", "dropoff_pin"];

/** What else a shipment has is added at the end, so that files keep the columns that they had. */
const COLUMNS = [
  ...FIRST,
  ...ShipmentSchema.fields
    .filter(({ fieldKind, name }) => /scalar|enum/.test(fieldKind) && !LEFT_OUT.includes(name))
    .map(({ name }) => name)
    .filter((name) => !FIRST.includes(name)),
  ..."received_by photo signature pin_verified waived".split(" ").map((name) => `proof.${name}`),
];

const PATHS = COLUMNS.map((path) => path.split("."));

function lineOf(shipment: object): string {
  return `${PATHS.map((path) => cellText(cellAt(path, shipment))).join()}\r\n`;
}

function cellAt(path: readonly string[], shipment: object): Cell {
  return path.reduce<Cell>((at, name) => (at as Record<string, Cell> | null)?.[name], shipment);
}

/** A cell as RFC 4180 has it, without what a spreadsheet would run. */
function cellText(cell: Cell): string {
  if (typeof cell === "number") return String(cell);
  if (cell === undefined || cell === null) return "";
  const written = typeof cell === "string" ? cell : JSON.stringify(cell);
  const text = PHONE.test(written) ? written : written.replace(FORMULA, "$1'");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * An apostrophe is put where a spreadsheet would begin to read a formula: at the beginning of a cell, also where it
 * takes cells to be separated by semicolons or tabs, as it does in many languages, and so knows no quotes around line
 * breaks. Quotes before the sign may then be taken for those around a cell. Text that has an apostrophe there gets another,
 * so that an import restores every cell by removing one.
 */
const FORMULA = /(^|[;\t\r\n])(?=["']*[=+\-@＝＋－＠])/g;

/** In E.164: a number to a spreadsheet, and no formula. */
const PHONE = /^\+\d+$/;

/** Spreadsheets know UTF-8 by the byte order mark. */
const HEADER = Buffer.from(
  `\uFEFF${COLUMNS.map((path) => path.replace("payment_details.", "").replace(".", "_")).join()}\r\n`,
);
