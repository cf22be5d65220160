import { hash } from "node:crypto";
import type { Logger } from "pino";
import type { LeasedQueue, WorkItem } from "../../db/leased-queue.ts";
import type { EntityManager } from "../../db/orm.ts";
import { type DueRow, findDue } from "../../db/platform-reads.ts";
import { runStatement } from "../../db/statement.ts";
import { MEDIA_TYPES, type PictureKind } from "./picture-kind.ts";

/** Storage of pictures outside the database. Methods reject if the bucket is unreachable. */
export interface PictureBucket {
  put(key: string, content: Buffer, contentType: string): Promise<void>;
  /** Returns an object. `undefined` if it does not exist, for example because the bucket deleted it. */
  get(key: string): Promise<Buffer | undefined>;
}

/** Maximum number of pictures to move at a time, in total and per workspace. Each needs up to 5 MiB of memory. */
const CONCURRENCY = { total: 4, perWorkspace: 2 };
const LEASE = "60 s";

const FIND_DUE = `
  select workspace_id::float8 as workspace, shipment_reference || ' ' || kind as reference,
    extract(epoch from moves_at)::float8 as due
  from proof_picture
  where content is not null and moves_at <= now() and workspace_id <> all($2::bigint[])
  order by moves_at limit $1::int`;

const IS_IT = "workspace_id = $1 and shipment_reference = $2 and kind = $3";
const TAKE = `
  update proof_picture set moves_at = now() + interval '${LEASE}'
  where ${IS_IT} and content is not null and moves_at <= now()
  returning content`;
/** Deletes the content of a moved picture, unless the picture was replaced. */
const MOVED = `
  update proof_picture set content = null, object_key = $4
  where ${IS_IT} and sha256(content) = decode($5, 'hex')`;

/**
 * Creates the queue that moves pictures to a bucket. A proof is first stored in the database with its pictures, so
 * that deliveries do not depend on the bucket. The content in the database is deleted once it was read back from the
 * bucket. Repeated writes are idempotent, because the object key contains the digest of the content.
 */
export function createPictureQueue(deps: {
  readonly em: EntityManager;
  readonly log: Pick<Logger, "warn">;
  readonly bucket: PictureBucket;
}): LeasedQueue {
  const { em, log, bucket } = deps;
  return {
    name: "pictures",
    outcomes: ["moved", "unreachable", "lost"],
    concurrency: CONCURRENCY,
    find: ({ limit, exceptWorkspaces }) =>
      findDue<WorkItem & DueRow>(em, { sql: FIND_DUE, values: [limit, exceptWorkspaces] }, limit),
    async work({ workspace, reference = "" }) {
      const [shipment, kind] = reference.split(" ") as [string, PictureKind];
      const key = [workspace, shipment, kind];
      const [picture] = await runStatement<{ content: Buffer }>(em, TAKE, key);
      if (picture === undefined) return "lost";
      const digest = hash("sha256", picture.content, "hex");
      const objectKey = `${workspace}/${shipment}/${kind}-${digest}`;
      try {
        await bucket.put(objectKey, picture.content, MEDIA_TYPES[kind]);
        const stored = await bucket.get(objectKey);
        if (!stored?.equals(picture.content)) throw new Error("The bucket does not return the stored object.");
      } catch (error) {
        log.warn({ err: error }, "a picture was not moved into its bucket");
        return "unreachable";
      }
      await runStatement(em, MOVED, [...key, objectKey, digest]);
      return "moved";
    },
  };
}
