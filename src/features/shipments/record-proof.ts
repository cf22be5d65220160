import { hash } from "node:crypto";
import { create, type MessageShape } from "@bufbuild/protobuf";
import { AttemptReasonSchema } from "../../../gen/shipments/v1/courier_pb.js";
import {
  GetProofPhotoResponseSchema,
  GetProofSignatureResponseSchema,
  type RecordAttemptRequest,
  type RecordProofRequest,
  ShipmentService,
} from "../../../gen/shipments/v1/shipment_service_pb.js";
import { invalidField, refuse } from "../../domain/refusal.ts";
import { stateError } from "../../domain/shipment/shipment-state.ts";
import { type AttemptReason, NO_PROGRESS } from "../../domain/shipment/delivery-progress.ts";
import { type DeliveryProof, MAX_WRONG_PINS, NO_PROOF } from "../../domain/shipment/delivery-proof.ts";
import { cleanJpeg } from "../../domain/shipment/clean-jpeg.ts";
import { cleanPng } from "../../domain/shipment/clean-png.ts";
import type { CleanedPicture } from "../../domain/shipment/picture.ts";
import { compileEnumName } from "../../json/records.ts";
import type { Call } from "../../pipeline/call.ts";
import { assertFrom, type Changed, stateAfter } from "./change-shipment.ts";
import { type Pictures, pictureResponse, writePictures } from "./proof-picture.entity.ts";
import { changeBy, failAttempt, report } from "./report-progress.ts";
import type { ShipmentDeps, ShipmentFunctions } from "./shipment-deps.ts";
import { statusOf } from "./shipment-message.ts";
import type { ShipmentRow } from "./shipment-row.ts";

const { method } = ShipmentService;

export const PROOF_CHANGES = {
  recordProof: changeWithPictures(method.recordProof, recordProof),
  recordAttempt: changeWithPictures(method.recordAttempt, recordAttempt),

  waiveVerification: changeBy(
    method.waiveVerification,
    (row, { reason }, at) => {
      const waived = prove(row, { waived: reason }, at);
      if (row.verification !== null) return waived;
      throw stateError("The shipment does not require verification.");
    },
    ({ progress }) => ({ waived: progress?.proof?.waived }),
  ),
} satisfies Partial<ShipmentFunctions>;

export const PROOF_PICTURES = {
  getProofPhoto: ({ shipment: reference }, { caller: { workspaceId: workspace } }, deps) =>
    pictureResponse(deps, { workspace, reference }, "photo", (jpeg) => create(GetProofPhotoResponseSchema, { jpeg })),

  getProofSignature: ({ shipment: reference }, { caller: { workspaceId: workspace } }, deps) =>
    pictureResponse(deps, { workspace, reference }, "signature", (png) =>
      create(GetProofSignatureResponseSchema, { png }),
    ),
} satisfies Partial<ShipmentFunctions>;

/**
 * Returns the handler of a method that records pictures of a shipment.
 *
 * @param change returns the changed shipment and the pictures to store
 */
function changeWithPictures<M extends typeof method.recordProof | typeof method.recordAttempt>(
  of: M,
  change: (row: ShipmentRow, request: MessageShape<M["input"]>, pictures: Pictures, at: Date) => Changed<Pictures>,
) {
  return async (
    request: MessageShape<M["input"]> & { readonly shipment: string; readonly signature?: Uint8Array },
    call: Call,
    { changeShipment, now }: Pick<ShipmentDeps, "changeShipment" | "now">,
  ) => {
    const pictures: Pictures = {
      ...(await cleaned("photo", request.photo, cleanJpeg)),
      ...(await cleaned("signature", request.signature, cleanPng)),
    };
    const key = { workspace: call.caller.workspaceId, reference: request.shipment };
    return changeShipment({
      method: of,
      // Request as compared for idempotency. Contains digests instead of pictures.
      request: {
        ...request,
        ...Object.fromEntries(Object.entries(pictures).map(([kind, bytes]) => [kind, hash("sha256", bytes, "buffer")])),
      },
      call,
      change: (row, _facts, at) => change(row, request, pictures, at),
      write: (tx, written: Pictures) => writePictures(tx, key, written, now()),
    });
  };
}

/** @throws Refusal FIELD_INVALID if the picture is invalid */
async function cleaned(
  subject: keyof Pictures,
  bytes: Uint8Array | undefined,
  clean: (bytes: Uint8Array) => CleanedPicture | Promise<CleanedPicture>,
): Promise<Pictures> {
  if (bytes === undefined) return {};
  const { picture, error } = await clean(bytes);
  if (error !== undefined) throw invalidField(subject, `${error}.`);
  return { [subject]: picture };
}

/** Records proof. If the PIN is wrong, records only the attempt, without an event. */
function recordProof(
  row: ShipmentRow,
  { pin, receivedBy, note }: RecordProofRequest,
  pictures: Pictures,
  at: Date,
): Changed<Pictures> {
  const recorded = {
    ...(receivedBy && { receivedBy }),
    ...(note && { note }),
    ...(pictures.photo && { photo: true }),
    ...(pictures.signature && { signature: true }),
    ...(pin && { pinVerified: true }),
  };
  if (Object.keys(recorded).length === 0) {
    throw invalidField("photo", "is missing. Record a photo, signature, pin, received_by or note.");
  }
  const proven = prove(row, recorded, at);
  if (pin === undefined) return { row: proven, made: pictures };
  const { verification } = row;
  if (verification?.by !== "pin") {
    throw invalidField("pin", "is not required. Omit it.");
  }
  const { wrongPins: before = 0, lastWrongPin } = row.progress ?? NO_PROGRESS;
  if (before < MAX_WRONG_PINS && pin === verification.pin) return { row: proven, made: pictures };
  const isCounted = before < MAX_WRONG_PINS && pin !== lastWrongPin;
  const wrongPins = isCounted ? before + 1 : before;
  const left = MAX_WRONG_PINS - wrongPins;
  const counted = report(row, ["prove"], at, (progress) =>
    isCounted ? { ...progress, wrongPins, lastWrongPin: pin } : progress,
  );
  const next =
    left === 0
      ? "No attempts are left. The verification must be waived"
      : `${left} ${left === 1 ? "attempt is" : "attempts are"} left. After that, the verification must be waived`;
  const facts = { attempts_left: String(left) };
  const refusal = refuse("PIN_WRONG", `pin is wrong. ${next}.`, { subject: "pin", facts });
  return { row: counted, made: {}, refusal };
}

const reasonOf = compileEnumName<AttemptReason>(AttemptReasonSchema);

/** Records a failed attempt. */
function recordAttempt(
  row: ShipmentRow,
  { reason: number, note: given, occurredAt, from }: RecordAttemptRequest,
  pictures: Pictures,
  at: Date,
): Changed<Pictures> {
  const reason = reasonOf(number)!;
  const note = given || null;
  if (reason === "other" && note === null) {
    throw invalidField("note", "is required when the reason is other.");
  }
  const attempts = row.progress?.attempts ?? [];
  const isKnown = attempts.some((known) => known.reason === reason && known.atMs === at.getTime());
  // The same attempt, repeated without a stored response, for example after days without a network.
  if (occurredAt !== undefined && isKnown) return { row, made: {} };
  assertFrom(row, statusOf(from));
  return { row: failAttempt(row, { reason, note, ...(pictures.photo && { photo: true }) }, at), made: pictures };
}

/**
 * Adds proof to a shipment.
 *
 * @throws Refusal SHIPMENT_STATE if the shipment is not in transit
 */
export function prove(row: ShipmentRow, changes: Partial<DeliveryProof>, at: Date): ShipmentRow {
  stateAfter(row, "prove");
  const before = row.progress ?? NO_PROGRESS;
  // The result must differ from the row even if a frozen clock shows the same time, because the picture may differ.
  const proof = { ...NO_PROOF, ...before.proof, ...changes, recordedAt: at.getTime() };
  return { ...row, progress: { ...before, proof }, updatedAt: at };
}
