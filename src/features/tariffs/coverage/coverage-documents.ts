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

export interface CoverageDocuments {
  /**
   * The zones of a version, to one of the tolerances of `roundedToleranceM`.
   *
   * Rejects when there is no such version or the database does not give it.
   */
  find(version: number, toleranceM: number): Promise<CoverageResponse>;
}

export type CoverageResponse = DocumentResponse<GetCoverageResponse>;

/** How much memory documents may take, in bytes; the one asked for last stays even if it takes more. */
const MAX_BYTES = 64 * 1024 * 1024;

/**
 * Kept by callers alone, since it needs a key, and asked for again each time: that costs no more than
 * a small read, and maps show new zones at once.
 */
const CACHE_CONTROL = "private, no-cache";

/**
 * Builds the cache of documents. Each is made in a thread of its own, one at a time and once, however
 * many wait for it; those that were not asked for the longest are dropped when all take too much.
 */
export function createCoverageDocuments(tasks: Pick<TariffTasks, "runAtOnce">): CoverageDocuments {
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

  function keep(key: string, response: CoverageResponse): void {
    made.delete(key);
    made.set(key, response);
    let bytes = made.values().reduce((sum, { heldBytes }) => sum + heldBytes, 0);
    for (const [oldest, { heldBytes }] of made) {
      if (bytes <= MAX_BYTES || oldest === key) return;
      made.delete(oldest);
      bytes -= heldBytes;
    }
  }

  async function makeAndKeep(key: string, version: number, toleranceM: number) {
    try {
      const response = await make(version, toleranceM);
      keep(key, response);
      return response;
    } finally {
      making.delete(key);
    }
  }

  return {
    async find(version, toleranceM) {
      const key = `${version}-${toleranceM}`;
      const known = made.get(key);
      if (known !== undefined) {
        keep(key, known);
        return known;
      }
      const response = making.get(key) ?? makeAndKeep(key, version, toleranceM);
      making.set(key, response);
      return response;
    },
  };
}

/** The entity tag holds a hash too, since another release may simplify in another way. */
function toResponse(
  geojson: Uint8Array,
  tariffVersion: number,
  toleranceM: number,
): CoverageResponse {
  const body = Buffer.from(geojson.buffer as ArrayBuffer, geojson.byteOffset, geojson.byteLength);
  const digest = hash("sha256", body, "base64url").slice(0, 16);
  return new DocumentResponse(
    () => create(GetCoverageResponseSchema, { geojson, tariffVersion, toleranceM }),
    {
      contentType: GEOJSON,
      body,
      etag: `${tariffVersion}-${toleranceM}-${digest}`,
      cacheControl: CACHE_CONTROL,
    },
  );
}
