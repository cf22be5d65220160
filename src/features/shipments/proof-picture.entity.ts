import { hash } from "node:crypto";
import type { Message } from "@bufbuild/protobuf";
import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { columnsOf, insertionOf } from "../../db/columns.ts";
import type { EntityManager } from "../../db/orm.ts";
import { deleteOldest, runStatement } from "../../db/statement.ts";
import type { Transaction } from "../../db/transaction.ts";
import { refuse, unavailable } from "../../domain/refusal.ts";
import { DocumentResponse } from "../../pipeline/rpc-response.ts";
import { Workspace } from "../workspaces/workspace.entity.ts";
import type { ShipmentKey } from "./find-shipment.ts";
import type { PictureBucket } from "./picture-bucket.ts";
import { MEDIA_TYPES, type PictureKind } from "./picture-kind.ts";
import { ofShipment } from "./shipment.entity.ts";

/**
 * A picture taken at the door, reduced by `cleanJpeg` or `cleanPng`. Stored separately, because
 * shipments are read often.
 */
export const ProofPicture = defineEntity({
  name: "ProofPicture",
  primaryKeys: ["workspace", "shipment", "kind"],
  properties: {
    workspace: () => p.manyToOne(Workspace).mapToPk().primary().updateRule("no action").deleteRule("no action"),
    shipment: () => ofShipment().deleteRule("cascade"),
    kind: p.text().$type<PictureKind>().primary(),
    /** Content of the picture. null after it was moved to a bucket. */
    content: p.blob().nullable(),
    /** Key of the object in the bucket. null while the picture is in the database. */
    objectKey: p.text().nullable(),
    /** Time of the next attempt to move the picture, or the end of the lease during an attempt. */
    movesAt: p.datetime(3).defaultRaw("now()"),
    /** Real time at which it was recorded, even if the test clock is frozen. */
    recordedAt: p.datetime(3).index("proof_picture_by_age"),
  },
  indexes: [
    // Index for the workers, which read all workspaces.
    {
      name: "proof_picture_to_move",
      expression: `create index "proof_picture_to_move" on "proof_picture" ("moves_at") where content is not null`,
    },
  ],
  checks: [{ name: "proof_picture_kind", expression: "kind in ('photo', 'signature')" }],
});

export type ProofPicture = InferEntity<typeof ProofPicture>;

export type Pictures = Readonly<Partial<Record<PictureKind, Buffer>>>;

const insertion = insertionOf("proof_picture", columnsOf(ProofPicture, "workspace"), {
  onConflict: `on conflict (workspace_id, shipment_reference, kind)
    do update set content = excluded.content, object_key = null, moves_at = excluded.moves_at,
      recorded_at = excluded.recorded_at`,
});

/** Queues inserts of pictures, which replace earlier pictures of the same kind. */
export function writePictures(
  tx: Transaction,
  { workspace, reference: shipment }: ShipmentKey,
  pictures: Pictures,
  recordedAt: Date,
): void {
  for (const [kind, content] of Object.entries(pictures)) {
    const own = { shipment, kind, content, recordedAt, objectKey: null, movesAt: recordedAt };
    void tx.send(...insertion(workspace, [own]));
  }
}

/** Selects a picture. Pictures recorded before a failed attempt are stored, but cannot be read. */
const FIND = `
  select content, object_key as "objectKey" from proof_picture
  where workspace_id = $1 and shipment_reference = $2 and kind = $3
    and exists (
      select from shipment
      where workspace_id = $1 and reference = $2
        and (progress -> 'proof' ->> $3 = 'true' or progress -> 'attempts' -> -1 ->> $3 = 'true'))`;

/**
 * Responds with a picture of a shipment. Over HTTP, the body is the picture.
 *
 * @throws Refusal PICTURE_NOT_FOUND, which is the same for missing shipments and shipments of other workspaces;
 * UNAVAILABLE if the bucket is unreachable
 */
export async function pictureResponse<M extends Message>(
  deps: PictureDeps,
  key: ShipmentKey,
  kind: PictureKind,
  toMessage: (content: Buffer) => M,
): Promise<DocumentResponse<M>> {
  const body = await findPicture(deps, key, kind);
  if (body === undefined) throw refuse("PICTURE_NOT_FOUND");
  return new DocumentResponse(() => toMessage(body), {
    contentType: MEDIA_TYPES[kind],
    body,
    etag: hash("sha256", body, "base64url").slice(0, 22),
    cacheControl: "private, no-cache",
  });
}

interface PictureDeps {
  readonly em: EntityManager;
  readonly bucket: PictureBucket | undefined;
}

/**
 * Returns a picture of a shipment, or `undefined` if there is none.
 *
 * @throws Refusal UNAVAILABLE if the bucket is unreachable
 */
export async function findPicture(
  { em, bucket }: PictureDeps,
  { workspace, reference }: ShipmentKey,
  kind: PictureKind,
): Promise<Buffer | undefined> {
  const [found] = await runStatement<Stored>(em, FIND, [workspace, reference, kind]);
  return found && (found.content ?? (await readObject(bucket, found.objectKey!)));
}

type Stored = { readonly content: Buffer | null; readonly objectKey: string | null };

async function readObject(bucket: PictureBucket | undefined, key: string) {
  try {
    if (bucket === undefined) throw new Error("PICTURES_S3_URL is not set.");
    return await bucket.get(key);
  } catch (error) {
    throw unavailable("The picture cannot be read at the moment. Try again in a moment.", error);
  }
}

/**
 * Deletes pictures that were recorded more than 90 days ago by the database's clock.
 *
 * @returns the number of deleted rows
 */
export function purgePictures(em: EntityManager): Promise<number> {
  return deleteOldest(em, "proof_picture", "recorded_at", "now() - interval '90 days'", []);
}
