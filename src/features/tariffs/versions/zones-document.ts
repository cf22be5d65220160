import type { Message } from "@bufbuild/protobuf";
import type { EntityManager } from "../../../db/orm.ts";
import { createSemaphore } from "../../../db/semaphore.ts";
import { runSlowStatement } from "../../../db/statement.ts";
import { readOnly } from "../../../db/transaction.ts";
import { DocumentResponse } from "../../../pipeline/rpc-response.ts";

/** Media type of zones (RFC 7946, section 12). */
export const GEOJSON = "application/geo+json";

/** Maximum size of a chunk of zones, in bytes. Limits how long processing a row blocks this thread. */
export const CHUNK_BYTES = 1024 * 1024;

/**
 * Loads the zones of a draft or version in chunks. If too many loads are running, the load waits for its turn.
 *
 * @param sql constant SQL that selects the chunks of the draft or version `$1`
 */
export type LoadZones = <Row>(sql: string, named: number) => Promise<Row[]>;

/** Maximum number of concurrent loads. Each holds a connection from the shared pool for several seconds. */
const MAX_LOADS = 2;

export function createZonesLoader(em: EntityManager): LoadZones {
  const turn = createSemaphore(MAX_LOADS);
  return async <Row>(sql: string, named: number) => {
    await turn.acquire();
    try {
      return await readOnly(em, (tx) => runSlowStatement<Row>(tx, sql, [named]));
    } finally {
      turn.release();
    }
  };
}

export function zonesResponse<M extends Message>(
  chunks: readonly Buffer[],
  etag: string,
  toMessage: (geojson: Buffer) => M,
): DocumentResponse<M> {
  const body = Buffer.concat(chunks);
  const cacheControl = "private, no-cache";
  return new DocumentResponse(() => toMessage(body), {
    contentType: GEOJSON,
    body,
    etag,
    cacheControl,
  });
}
