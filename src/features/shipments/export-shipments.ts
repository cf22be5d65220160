import { setImmediate } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import {
  ExportShipmentsResponseSchema,
  type ExportShipmentsResponse,
} from "../../../gen/shipments/v1/shipment_service_pb.js";
import { ShipmentSchema } from "../../../gen/shipments/v1/shipment_pb.js";
import { isDistributed } from "../../db/distributed.ts";
import type { EntityManager } from "../../db/orm.ts";
import { createSemaphore } from "../../db/semaphore.ts";
import { runStatement } from "../../db/statement.ts";
import { refuse, type Refusal } from "../../domain/refusal.ts";
import { statesWith } from "../../domain/shipment/shipment-state.ts";
import type { ShipmentDeps, ShipmentFunctions } from "./shipment-deps.ts";
import { holdHeapGrowth } from "./heap-growth.ts";
import { listParts, readShipmentFilters, selectListed } from "./shipment-filters.ts";
import { shipmentJson } from "./shipment-message.ts";
import { selectShipments, SHIPMENT_COLUMN, type ShipmentRow } from "./shipment-row.ts";

const MOST = 1_000_000;
/** How many are read and sent at a time: 10 at first, then as many as make about a piece, 100 at most. */
const FIRST_BATCH = 10;
const MAX_BATCH = 100;
/** How many batches this process reads at a time, for all exports. */
const turn = createSemaphore(2);
/** How many exports of one workspace this process makes at a time. */
export const MAX_EXPORTS = 4;
const running = new Map<number, number>();
/** Approximate size of a chunk, which stays in memory until its reader takes it. */
const PIECE_BYTES = 64 * 1024;
/** Maximum size of a chunk. A JSON message is larger by a third. */
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

  const leave = enter(caller.workspaceId);
  const releaseHeap = holdHeapGrowth();
  try {
    const values: unknown[] = [caller.workspaceId];
    const parts = listParts(states, filters, values);
    const isOne = filters.externalReference !== undefined;
    if (!isOne && (await exceedsMost(deps.em, parts, values))) throw tooMany();
    yield fileOf(HEADER);

    const readBatch = createBatchReader(deps, parts, values, signal);
    let size = FIRST_BATCH;
    let next: Promise<Batch> | undefined = readBatch(["infinity", ""], size);
    while (next !== undefined && !signal.aborted) {
      const { rows, end }: Batch = await next;
      // Read while these rows are formatted and sent.
      next = end && readBatch(end, size);
      next?.catch(() => undefined);
      // Formatting blocks the event loop: send the statement before.
      await setImmediate();
      let bytes = 1;
      for (const piece of piecesOf(rows.map((row) => lineOf(shipmentJson(row, caller))))) {
        bytes += piece.length;
        yield fileOf(piece);
      }
      size = Math.min(MAX_BATCH, Math.max(1, Math.floor((rows.length * PIECE_BYTES) / bytes)));
    }
  } finally {
    releaseHeap();
    leave();
  }
};

/** Counts an export of a workspace until the returned function is called. @throws Refusal RATE_LIMITED */
function enter(workspace: number): () => void {
  const others = running.get(workspace) ?? 0;
  if (others >= MAX_EXPORTS) {
    const text = `The workspace has ${MAX_EXPORTS} exports running; try again when one of them has ended.`;
    throw refuse("RATE_LIMITED", text, { retryAfterSeconds: 10 });
  }
  running.set(workspace, others + 1);
  return () => {
    const left = running.get(workspace)! - 1;
    if (left > 0) running.set(workspace, left);
    else running.delete(workspace);
  };
}

/** No stored shipment is smaller, in bytes. */
const LEAST_BYTES = 200;

/** Whether a list has more than `MOST` shipments. Counts them only if the table is large enough for so many. */
async function exceedsMost(
  em: EntityManager,
  parts: readonly string[],
  values: readonly unknown[],
): Promise<boolean> {
  if (!(await isDistributed(em))) {
    const size = "select pg_relation_size('shipment')::float8 as bytes";
    const [table] = await runStatement<{ bytes: number }>(em, size);
    if (table!.bytes < MOST * LEAST_BYTES) return false;
  }
  const exceeds = `select exists (select from (${selectListed("s.reference", parts, "")}) as listed offset ${MOST}) as exceeds`;
  const [found] = await runStatement<{ exceeds: boolean }>(em, exceeds, values);
  return found!.exceeds;
}

interface Batch {
  readonly rows: readonly ShipmentRow[];
  /** Time and reference of the last row; undefined in the last batch. */
  readonly end: readonly string[] | undefined;
}

function createBatchReader(
  deps: Pick<ShipmentDeps, "em" | "versionFees">,
  parts: readonly string[],
  values: readonly unknown[],
  signal: AbortSignal,
): (last: readonly string[], size: number) => Promise<Batch> {
  const [atTime, atReference, limit] = [1, 2, 3].map((more) => `$${values.length + more}`);
  const older = `(s.created_at, s.reference) < (${atTime}, ${atReference})`;
  const left = parts.map((part) => `${part} and ${older}`);
  const sql = selectListed(SHIPMENT_COLUMN, left, `limit ${limit}`);
  return async (last, size) => {
    await turn.acquire();
    try {
      // The reader may have gone while others had their turn.
      if (signal.aborted) return { rows: [], end: undefined };
      const rows = await selectShipments(deps, sql, [...values, ...last, size]);
      const oldest = rows.length < size ? undefined : rows.at(-1)!;
      return { rows, end: oldest && [oldest.createdAt.toISOString(), oldest.reference] };
    } finally {
      turn.release();
    }
  };
}

function fileOf(lines: Buffer): ExportShipmentsResponse {
  return create(ExportShipmentsResponseSchema, { csv: lines });
}

/** Combines lines into chunks. No line is longer than `MAX_PIECE_BYTES`. */
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
    "More than 1,000,000 shipments match the filters. Narrow them with created_after and created_before.",
    { subject: "created_after" },
  );
}

type Cell = string | number | object | null | undefined;

/** The first columns in order, as paths in a shipment's JSON. */
const FIRST = `reference external_reference status payment_status created_at
  customer.id customer.name customer.email customer.id_number
  pickup_address pickup_lat pickup_lng pickup_window.start pickup_window.end
  dropoff_address dropoff_lat dropoff_lng dropoff_window.start dropoff_window.end
  weight_kg distance_km distance_fee weight_fee window_fee subtotal base_fee total currency
  payment_details.refunded_amount cancelled_at cancel_reason cancel_note created_by updated_at metadata
  payment_details.disputed_amount tracking_url stage delivered_at returned_at
  courier.name courier.phone courier.vehicle courier.external_id pickup_eta dropoff_eta attempts
  recipient_name recipient_phone recipient_email recipient_locale dropoff_verification
  proof.received_by proof.photo proof.signature proof.pin_verified proof.waived`.split(/\s+/);
const LEFT_OUT = ["etag", "test", "quote_id", "dropoff_pin"];

/** Fields added later are the last columns, so that files keep the columns that they had. */
const COLUMNS = [
  ...FIRST,
  ...ShipmentSchema.fields
    .filter(({ fieldKind, name }) => /scalar|enum/.test(fieldKind) && !LEFT_OUT.includes(name))
    .map(({ name }) => name)
    .filter((name) => !FIRST.includes(name)),
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

/** E.164: a number for spreadsheets, not a formula. */
const PHONE = /^\+\d+$/;

/** Spreadsheets detect UTF-8 by the byte order mark. */
const HEADER = Buffer.from(
  `\uFEFF${COLUMNS.map((path) => path.replace("payment_details.", "").replace(".", "_")).join()}\r\n`,
);
