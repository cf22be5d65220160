import { hash } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import {
  GetCoverageResponseSchema,
  type GetCoverageResponse,
} from "../../../../gen/shipments/v1/coverage_service_pb.js";
import { createSemaphore } from "../../../db/semaphore.ts";
import { DocumentResponse } from "../../../pipeline/rpc-response.ts";
import type { TariffTasks } from "../tasks/run-tariff-task.ts";
import { GEOJSON } from "../versions/zones-document.ts";

export type CoverageDocuments = ReturnType<typeof createCoverageDocuments>;

type CoverageResponse = DocumentResponse<GetCoverageResponse>;

/** Maximum total size of cached documents, in bytes. The most recent one is kept even if it is larger. */
const MAX_BYTES = 64 * 1024 * 1024;

/**
 * `Cache-Control` header. Shared caches must not store the response, because it requires a key. Clients revalidate each
 * time, which is cheap and lets maps show new zones immediately.
 */
const CACHE_CONTROL = "private, no-cache";

/**
 * Creates the cache of documents. A worker thread creates one document at a time, and only once for
 * all concurrent callers. The least recently used documents are evicted.
 */
export function createCoverageDocuments(tasks: Pick<TariffTasks, "runAtOnce">) {
  const turn = createSemaphore(1);
  const making = new Map<string, Promise<CoverageResponse>>();
  const made = new Map<string, CoverageResponse>();

  async function make(version: number, toleranceM: number): Promise<CoverageResponse> {
    await turn.acquire();
    try {
      const geojson = await tasks.runAtOnce("coverage", { version, toleranceM });
      return toResponse(geojson, version, toleranceM);
    } finally {
      turn.release();
    }
  }

  function cache(key: string, response: CoverageResponse): void {
    made.delete(key);
    made.set(key, response);
    let bytes = made.values().reduce((sum, { heldBytes }) => sum + heldBytes, 0);
    for (const [oldest, { heldBytes }] of made) {
      if (bytes <= MAX_BYTES || oldest === key) return;
      made.delete(oldest);
      bytes -= heldBytes;
    }
  }

  async function createAndCache(key: string, version: number, toleranceM: number) {
    try {
      const response = await make(version, toleranceM);
      cache(key, response);
      return response;
    } finally {
      making.delete(key);
    }
  }

  return {
    /**
     * Returns the zones of a version, simplified to a tolerance that `roundedToleranceM` returns.
     * Rejects if the version does not exist or the database fails.
     */
    async find(version: number, toleranceM: number): Promise<CoverageResponse> {
      const key = `${version}-${toleranceM}`;
      const known = made.get(key);
      if (known !== undefined) {
        cache(key, known);
        return known;
      }
      const response = making.get(key) ?? createAndCache(key, version, toleranceM);
      making.set(key, response);
      return response;
    },
  };
}

/**
 * Creates the response. Its entity tag contains a hash of the document, because another release may
 * simplify differently.
 */
function toResponse(geojson: Uint8Array, tariffVersion: number, toleranceM: number): CoverageResponse {
  const body = Buffer.from(geojson.buffer as ArrayBuffer, geojson.byteOffset, geojson.byteLength);
  const digest = hash("sha256", body, "base64url").slice(0, 16);
  return new DocumentResponse(() => create(GetCoverageResponseSchema, { geojson, tariffVersion, toleranceM }), {
    contentType: GEOJSON,
    body,
    etag: `${tariffVersion}-${toleranceM}-${digest}`,
    cacheControl: CACHE_CONTROL,
  });
}
