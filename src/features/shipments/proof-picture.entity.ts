import { hash } from "node:crypto";
import type { Message } from "@bufbuild/protobuf";
import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { columnsOf, insertionOf } from "../../db/columns.ts";
import type { EntityManager } from "../../db/orm.ts";
import { deleteOldest, runStatement } from "../../db/statement.ts";
import type { Transaction } from "../../db/transaction.ts";
import { refuse } from "../../domain/refusal.ts";
import { DocumentResponse } from "../../pipeline/rpc-response.ts";
import { Workspace } from "../workspaces/workspace.entity.ts";
import type { ShipmentKey } from "./find-shipment.ts";
import { ofShipment } from "./shipment.entity.ts";

/** What pictures prove a delivery, with the media type of each. */
const MEDIA_TYPES = { photo: "image/jpeg", signature: "image/png" } as const;

export type PictureKind = keyof typeof MEDIA_TYPES;

/** A picture that was taken at the door, as `domain/shipment/picture.ts` leaves it. Apart from the shipment, which is read often. */
export const ProofPicture = defineEntity({
  name: "ProofPicture",
  tableName: "proof_picture",
  primaryKeys: ["workspace", "shipment", "kind"],
  properties: {
    workspace: () =>
      p.manyToOne(Workspace).mapToPk().primary().updateRule("no action").deleteRule("no action"),
    shipment: () => ofShipment().deleteRule("cascade"),
    kind: p.text().$type<PictureKind>().primary(),
    content: p.blob(),
    /** In real time, also where a test clock stands. */
    recordedAt: p.datetime(3).index("proof_picture_by_age"),
  },
  checks: [{ name: "proof_picture_kind", expression: "kind in ('photo', 'signature')" }],
});

export type ProofPicture = InferEntity<typeof ProofPicture>;

/** The pictures of one shipment, by their kinds. */
export type Pictures = Readonly<Partial<Record<PictureKind, Buffer>>>;

const insertion = insertionOf("proof_picture", columnsOf(ProofPicture, "workspace"), {
  onConflict: `on conflict (workspace_id, shipment_reference, kind)
    do update set content = excluded.content, recorded_at = excluded.recorded_at`,
});

/** Sends pictures of a shipment, to be written in the place of those of before. */
export function writePictures(
  tx: Transaction,
  { workspace, reference: shipment }: ShipmentKey,
  pictures: Pictures,
  recordedAt: Date,
): void {
  for (const [kind, content] of Object.entries(pictures)) {
    void tx.send(...insertion(workspace, [{ shipment, kind, content, recordedAt }]));
  }
}

const FIND = `
  select content from proof_picture
  where workspace_id = $1 and shipment_reference = $2 and kind = $3`;

/**
 * Answers with a picture of a shipment, over HTTP as it is.
 *
 * @throws Refusal PICTURE_NOT_FOUND, alike for an unknown shipment and one of another workspace
 */
export async function pictureResponse<M extends Message>(
  em: EntityManager,
  { workspace, reference }: ShipmentKey,
  kind: PictureKind,
  toMessage: (content: Buffer) => M,
): Promise<DocumentResponse<M>> {
  const values = [workspace, reference, kind];
  const [found] = await runStatement<{ content: Buffer }>(em, FIND, values);
  if (found === undefined) throw refuse("PICTURE_NOT_FOUND");
  const { content: body } = found;
  return new DocumentResponse(() => toMessage(body), {
    contentType: MEDIA_TYPES[kind],
    body,
    etag: hash("sha256", body, "base64url").slice(0, 22),
    cacheControl: "private, no-cache",
  });
}

/**
 * Deletes pictures that were recorded more than 90 days ago, by the database's clock.
 *
 * @returns how many it deleted
 */
export function purgePictures(em: EntityManager): Promise<number> {
  return deleteOldest(em, "proof_picture", "recorded_at", "now() - interval '90 days'", []);
}
