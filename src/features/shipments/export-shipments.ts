import { setImmediate } from "node:timers/promises";
import { create } from "@bufbuild/protobuf";
import {
  ExportShipmentsResponseSchema,
  type ExportShipmentsResponse,
} from "../../../gen/shipments/v1/shipment_service_pb.js";
import { ShipmentSchema } from "../../../gen/shipments/v1/shipment_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { createSemaphore } from "../../db/semaphore.ts";
import { serversOf } from "../../db/servers-of.ts";
import { runStatement } from "../../db/statement.ts";
import { refuse, type Refusal } from "../../domain/refusal.ts";
import { statesWith } from "../../domain/shipment/shipment-state.ts";
import type { ShipmentDeps, ShipmentFunctions } from "./shipment-deps.ts";
import { holdHeapGrowth } from "./heap-growth.ts";
import { listParts, readShipmentFilters, selectListed } from "./shipment-filters.ts";
import { shipmentJson } from "./shipment-message.ts";
import { selectShipments, SHIPMENT_COLUMN, type ShipmentRow } from "./shipment-row.ts";

const MOST = 1_000_000;
/** Number of shipments read at a time: 10 at first, then about as many as fill a chunk, at most 100. */
const FIRST_BATCH = 10;
const MAX_BATCH = 100;
/** Limits this process to two concurrent reads for all exports in total. */
const turn = createSemaphore(2);
/** Maximum number of concurrent exports per workspace and process. */
export const MAX_EXPORTS = 4;
const running = new Map<number, number>();
/** Approximate size of a chunk, in bytes. A chunk stays in memory until the client has read it. */
const CHUNK_BYTES = 64 * 1024;
/** Maximum size of a chunk, in bytes. In a JSON message, the chunk is a third larger. */
const MAX_CHUNK_BYTES = 1024 * 1024;

/**
 * Exports the filtered shipments as CSV (RFC 4180, UTF-8 with a byte order mark), newest first. The
 * first line contains the column names. Each batch is read at a different time, and shipments
 * booked during the export are omitted. Stops early when `signal` aborts.
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
      // Read the next batch while this one is formatted and sent.
      next = end && readBatch(end, size);
      next?.catch(() => undefined);
      // Formatting blocks the event loop, so send the statement first.
      await setImmediate();
      let bytes = 1;
      for (const chunk of chunksOf(rows.map((row) => lineOf(shipmentJson(row, caller))))) {
        bytes += chunk.length;
        yield fileOf(chunk);
      }
      size = Math.min(MAX_BATCH, Math.max(1, Math.floor((rows.length * CHUNK_BYTES) / bytes)));
    }
  } finally {
    releaseHeap();
    leave();
  }
};

/**
 * Counts a workspace's export as running until the returned function is called.
 *
 * @throws Refusal RATE_LIMITED if too many are running
 */
function enter(workspace: number): () => void {
  const others = running.get(workspace) ?? 0;
  if (others >= MAX_EXPORTS) {
    const text = `The workspace has ${MAX_EXPORTS} exports running. Try again when one of them is complete.`;
    throw refuse("RATE_LIMITED", text, { retryAfterSeconds: 10 });
  }
  running.set(workspace, others + 1);
  return () => {
    const left = running.get(workspace)! - 1;
    if (left > 0) running.set(workspace, left);
    else running.delete(workspace);
  };
}

/** Minimum size of a stored shipment, in bytes. */
const LEAST_BYTES = 200;

/** Whether a list has more than `MOST` shipments. Counts them only if the table is large enough to have that many. */
async function exceedsMost(em: EntityManager, parts: readonly string[], values: readonly unknown[]): Promise<boolean> {
  const bytes = await (await serversOf(em)).tableBytes("shipment");
  if (bytes < MOST * LEAST_BYTES) return false;
  const exceeds = `select exists (select from (${selectListed("s.reference", parts, "")}) as listed offset ${MOST}) as exceeds`;
  const [found] = await runStatement<{ exceeds: boolean }>(em, exceeds, values);
  return found!.exceeds;
}

interface Batch {
  readonly rows: readonly ShipmentRow[];
  /** Creation time and reference of the last row. `undefined` in the last batch. */
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
      // The client may have disconnected while this export waited for its turn.
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

/** Combines lines into chunks of at most `MAX_CHUNK_BYTES`. A single line is never longer. */
function chunksOf(lines: readonly string[]): Buffer[] {
  const chunk = Buffer.from(lines.join(""));
  if (chunk.length === 0) return [];
  if (chunk.length <= MAX_CHUNK_BYTES || lines.length === 1) return [chunk];
  const half = lines.length / 2;
  return [...chunksOf(lines.slice(0, half)), ...chunksOf(lines.slice(half))];
}

function tooMany(): Refusal {
  return refuse(
    "FIELD_INVALID",
    "More than 1,000,000 shipments match the filters. Narrow them with created_after and created_before.",
    { subject: "created_after" },
  );
}

type Cell = string | number | object | null | undefined;

/** First columns in order, as paths in a shipment's JSON. */
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
const LEFT_OUT = ["etag", "test", "quote_id", "dropoff_pin", "breakdown"];

/** All columns. Fields that are added later come last, so that existing columns keep their position. */
const COLUMNS = [
  ...FIRST,
  ...ShipmentSchema.fields
    .filter(({ fieldKind, name }) => /scalar|enum|list/.test(fieldKind) && !LEFT_OUT.includes(name))
    .map(({ name }) => name)
    .filter((name) => !FIRST.includes(name)),
];

const PATHS = COLUMNS.map((path) => path.split("."));

function lineOf(shipment: object): string {
  return `${PATHS.map((path) => cellText(cellAt(path, shipment))).join()}\r\n`;
}

function cellAt(path: readonly string[], shipment: object): Cell {
  let cell: Cell = shipment;
  for (const name of path) cell = (cell as Record<string, Cell> | null | undefined)?.[name];
  return cell;
}

/** Formats a cell by RFC 4180 and escapes spreadsheet formulas. */
function cellText(cell: Cell): string {
  if (typeof cell === "number") return String(cell);
  if (cell === undefined || cell === null) return "";
  const written = typeof cell === "string" ? cell : JSON.stringify(cell);
  if (!SPECIAL.test(written)) return written;
  const text = PHONE.test(written) ? written : written.replace(FORMULA, "$1'");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * Matches the positions where a spreadsheet could start reading a formula: at the start of a cell, and after a
 * semicolon, tab or line break. Spreadsheets in many languages separate cells by semicolons or tabs and then ignore
 * quotes around line breaks. Quotes before the sign can therefore be interpreted as quotes around a cell.
 *
 * An apostrophe is inserted at each position. Text that already has an apostrophe there gets another apostrophe, so an
 * import can restore every cell by removing one.
 */
const FORMULA = /(^|[;\t\r\n])(?=["']*[=+\-@＝＋－＠])/g;

/** Matches every cell that is quoted or escaped, and few others. */
const SPECIAL = /^[=+\-@＝＋－＠']|[;\t\r\n",]/;

/** Phone number in E.164, which spreadsheets read as a number and not as a formula. */
const PHONE = /^\+\d+$/;

/** Header line. The byte order mark makes spreadsheets detect UTF-8. */
const HEADER = Buffer.from(
  `\uFEFF${COLUMNS.map((path) => path.replace("payment_details.", "").replace(".", "_")).join()}\r\n`,
);
