import { parentPort, workerData } from "node:worker_threads";
import pg from "pg";
import { indexPolygons } from "../../domain/coverage/coverage.ts";
import { readSoundTariff } from "../../domain/pricing/tariff.ts";
import type { LoadRequest, LoadedTariff } from "./load-tariff.ts";

/** How long the database may take to give the document, in milliseconds. */
const QUERY_TIMEOUT_MS = 30_000;
/** How long connecting to it may take, in milliseconds. */
const CONNECT_TIMEOUT_MS = 2_000;

const { databaseUrl, version } = workerData as LoadRequest;
const { fees, polygons } = readSoundTariff(await readDocument(databaseUrl, version));
const indexed = indexPolygons(polygons);
parentPort!.postMessage({ fees, indexed } satisfies LoadedTariff, {
  transfer: indexed === undefined ? [] : buffersOf(indexed),
});

async function readDocument(url: string, wanted: number): Promise<unknown> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    application_name: "shipments tariff",
  });
  await client.connect();
  try {
    const { rows } = await client.query<{ document: unknown }>(
      "select document from tariff_version where version = $1",
      [wanted],
    );
    return rows[0]!.document;
  } finally {
    await client.end();
  }
}

/** The memory behind all arrays of an object, each once. */
function buffersOf(value: object): ArrayBuffer[] {
  const found = Object.values(value).flatMap((it): ArrayBuffer[] => {
    if (it instanceof ArrayBuffer) return [it];
    return ArrayBuffer.isView(it) ? [it.buffer as ArrayBuffer] : buffersOf(it as object);
  });
  return [...new Set(found)];
}
