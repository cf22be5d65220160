import { expect, test } from "vitest";
import { runStatement } from "../../../src/db/statement.ts";
import { purgePictures } from "../../../src/features/shipments/proof-picture.entity.ts";
import { SAMPLE_PICTURES } from "../../../src/features/test-mode/sample-pictures.ts";
import { data, expectRefused, invalidFields } from "../../support/answers.ts";
import { ANY_TIME, bookAnd, takeStep } from "../../support/bookings.ts";
import { sharedService } from "../../support/service.ts";

const service = await sharedService();
const { apiKey, id } = await service.addWorkspace();
const as = service.as(apiKey);
const { body: made } = await as.createApiKey({ name: "Fleet", scope: "courier" });
const courier = service.as(made.api_key);

const photo = SAMPLE_PICTURES.photo.toString("base64");
const signature = SAMPLE_PICTURES.signature.toString("base64");

/** Creates a shipment in transit. */
async function createInTransit(dropoff_verification: string) {
  return bookAnd(service, apiKey, ["pay", "advance"], { dropoff_verification });
}

const PROOF = {
  recorded_at: ANY_TIME,
  received_by: null,
  note: null,
  pin_verified: false,
  photo: false,
  signature: false,
  waived: null,
};
const WRONG = (left: string) => ({
  pin: `pin is wrong. ${left}. ${left.startsWith("No") ? "The" : "After that, the"} verification must be waived.`,
});

const unverified = (what: string) => ({
  dropoff_verification: `The shipment cannot be delivered because its ${what} was not recorded. Record it, or waive the verification.`,
});

test("a shipment is delivered with the PIN that only its recipient received", async () => {
  const moving = await createInTransit("pin");
  const { reference: shipment, dropoff_pin: pin } = moving;
  expect(moving).toMatchObject({ dropoff_verification: "pin", proof: null });
  expect(pin).toMatch(/^\d{4}$/);
  const shown = await data(courier.getShipment({ shipment }));
  expect(shown).toMatchObject({ reference: shipment, dropoff_pin: null });
  await expectRefused(courier.advanceShipment({ shipment }), "NOT_VERIFIED", unverified("PIN"));

  const other = pin === "0000" ? "1111" : "0000";
  const statement = { shipment, received_by: "Grace", note: "At the gate", photo };
  const attempt = courier.recordProof({ ...statement, pin: other });
  await expectRefused(attempt, "PIN_WRONG", WRONG("4 attempts are left"), { attempts_left: "4" });
  expect(await data(as.getShipment({ shipment }))).toEqual(moving);
  await expectRefused(as.getProofPhoto({ shipment }), "PICTURE_NOT_FOUND");

  const proof = {
    ...PROOF,
    received_by: "Grace",
    note: "At the gate",
    photo: true,
    pin_verified: true,
  };
  const changed = { updated_at: ANY_TIME, etag: expect.any(String), proof };
  const proven = await data(courier.recordProof({ ...statement, pin }));
  expect(proven).toEqual({ ...shown, ...changed });
  const delivered = await data(courier.advanceShipment({ shipment }));
  expect(delivered).toMatchObject({ status: "delivered", proof });
  const [recorded, last] = (await data(as.listShipmentEvents({ shipment }))).slice(-2);
  expect([recorded.type, last.type]).toEqual(["shipment.proof_recorded", "shipment.delivered"]);
  const full = await data(as.getShipment({ shipment }));
  expect(last.data).toEqual({ ...full, dropoff_pin: null });
  await expectRefused(courier.recordProof({ shipment, note: "Later" }), "SHIPMENT_STATE", {
    shipment: "The shipment cannot be given a proof of delivery because it is delivered.",
  });
});

test("a courier's key cannot read a stored response of another key", async () => {
  const { reference: shipment, dropoff_pin: pin } = await createInTransit("pin");
  const attempt = {
    headers: { "idempotency-key": `attempt-${shipment}` },
    body: { reason: "nobody_there" },
  };
  const path = `/v1/shipments/${shipment}/attempts`;
  const { body: whole } = await service.request(path, { ...attempt, apiKey });
  expect(whole.data.dropoff_pin).toBe(pin);
  const { code } = await service.request(path, { ...attempt, apiKey: made.api_key });
  expect(code).toBe("IDEMPOTENCY_KEY_REUSED");
});

/** Returns a different PIN: the given PIN plus `by`. */
function pinAfter(pin: string, by: number): string {
  return String((Number(pin) + by) % 10_000).padStart(4, "0");
}

async function expectPinWrong(shipment: string, pin: string, left: string): Promise<void> {
  const facts = { attempts_left: left.startsWith("No") ? "0" : left[0] };
  await expectRefused(courier.recordProof({ shipment, pin }), "PIN_WRONG", WRONG(left), facts);
}

test("after five wrong PINs no PIN is accepted until it is replaced or waived", async () => {
  const { reference: shipment, dropoff_pin: pin } = await createInTransit("pin");
  const attemptTexts = [
    "4 attempts are left",
    "3 attempts are left",
    "2 attempts are left",
    "1 attempt is left",
    "No attempts are left",
  ];
  for (const [i, left] of attemptTexts.entries()) {
    // Repeats the call, as after a lost response. The second response is the same.
    for (const _ of [1, 2]) await expectPinWrong(shipment, pinAfter(pin, 1 + i), left);
  }
  await expectPinWrong(shipment, pinAfter(pin, 8), "No attempts are left");
  expect(await data(as.listShipmentEvents({ shipment }))).toHaveLength(4);
  await data(courier.setCourier({ shipment, name: "Ada" }));
  await data(courier.setCourier({ shipment, name: "Bob" }));
  await data(as.updateShipment({ shipment, dropoff_verification: "none" }));
  await data(as.updateShipment({ shipment, dropoff_verification: "pin" }));
  const { dropoff_pin } = await data(as.getShipment({ shipment }));
  await expectPinWrong(shipment, pinAfter(dropoff_pin, 1), "4 attempts are left");

  expect((await courier.waiveVerification({ shipment, reason: "Lost it" })).status).toBe(403);
  const waiver = service.as((await as.createApiKey({ name: "Night shift", scope: "full" })).body.api_key);
  const waived = await data(waiver.waiveVerification({ shipment, reason: "Lost it" }));
  expect(waived.proof).toEqual({ ...PROOF, waived: "Lost it" });
  const event = (await data(as.listShipmentEvents({ shipment }))).at(-1);
  const key = { id: expect.any(String), name: "Night shift", last4: expect.any(String) };
  expect([event.type, event.actor, event.api_key]).toEqual(["shipment.proof_recorded", null, key]);
  expect(await data(courier.advanceShipment({ shipment }))).toMatchObject({ status: "delivered" });
});

test.each(["photo", "signature"] as const)("a shipment is delivered with its %s, which can be read", async (kind) => {
  const { reference: shipment } = await createInTransit(kind);
  const other = kind === "photo" ? { signature } : { photo };
  await data(courier.recordProof({ shipment, ...other, received_by: "Grace" }));
  await expectRefused(courier.advanceShipment({ shipment }), "NOT_VERIFIED", unverified(kind));
  const { proof } = await data(courier.recordProof({ shipment, photo, signature }));
  expect(proof).toEqual({ ...PROOF, received_by: "Grace", photo: true, signature: true });
  await data(courier.advanceShipment({ shipment }));

  const path = `/v1/shipments/${shipment}/proof/${kind}`;
  const read = await fetch(service.httpUrl + path, { headers: { "x-api-key": apiKey } });
  expect(read.headers.get("content-type")).toBe(kind === "photo" ? "image/jpeg" : "image/png");
  expect(Buffer.from(await read.arrayBuffer())).toEqual(SAMPLE_PICTURES[kind]);
  const foreign = await service.addWorkspace();
  const { status } = await service.request(path, { apiKey: foreign.apiKey });
  expect(status).toBe(404);
});

test("a recorded or waived verification does not count for another kind of verification", async () => {
  const { reference: shipment, dropoff_pin: first } = await createInTransit("pin");
  await data(courier.recordProof({ shipment, pin: first, photo }));
  await data(as.updateShipment({ shipment, dropoff_verification: "signature" }));
  await data(as.waiveVerification({ shipment, reason: "No pen" }));
  const { proof, dropoff_pin } = await data(as.updateShipment({ shipment, dropoff_verification: "pin" }));
  expect(proof).toEqual({ ...PROOF, photo: true });
  await expectRefused(courier.advanceShipment({ shipment }), "NOT_VERIFIED", unverified("PIN"));
  await data(courier.recordProof({ shipment, pin: dropoff_pin }));
  await data(as.updateShipment({ shipment, dropoff_verification: "none" }));
  await expectRefused(as.waiveVerification({ shipment, reason: "Why not" }), "SHIPMENT_STATE", {
    shipment: "The shipment does not require verification.",
  });
  const events = await data(as.listShipmentEvents({ shipment }));
  expect(events.slice(4).map(({ type }: { type: string }) => type.replace("shipment.", ""))).toEqual([
    "proof_recorded",
    "updated",
    "proof_recorded",
    "updated",
    "proof_recorded",
    "updated",
  ]);
});

test("a proof from before a failed attempt does not count for a later delivery", async () => {
  const { reference: shipment } = await createInTransit("photo");
  await data(courier.recordProof({ shipment, photo, received_by: "Grace" }));
  const failed = await data(courier.recordAttempt({ shipment, reason: "damaged" }));
  expect(failed.proof).toBe(null);
  await expectRefused(as.getProofPhoto({ shipment }), "PICTURE_NOT_FOUND");
  await expectRefused(courier.advanceShipment({ shipment }), "NOT_VERIFIED", unverified("photo"));
  await data(as.waiveVerification({ shipment, reason: "Camera broken" }));
  const again = await data(courier.recordAttempt({ shipment, reason: "refused" }));
  expect(again.proof).toEqual({ ...PROOF, waived: "Camera broken" });
  await data(courier.advanceShipment({ shipment }));
  const events = await data(as.listShipmentEvents({ shipment }));
  expect(events.slice(4).map(({ type }: { type: string }) => type)).toEqual([
    "shipment.proof_recorded",
    "shipment.attempt_failed",
    "shipment.proof_recorded",
    "shipment.attempt_failed",
    "shipment.delivered",
  ]);
});

test("the photo of a failed attempt can be read, but proves no delivery", async () => {
  const { reference: shipment } = await createInTransit("photo");
  const { attempts, proof } = await data(courier.recordAttempt({ shipment, reason: "refused", photo }));
  expect([attempts, proof]).toEqual([
    [{ end: "dropoff", attempted_at: ANY_TIME, reason: "refused", note: null, photo: true }],
    null,
  ]);
  expect((await as.getProofPhoto({ shipment })).status).toBe(200);
  await expectRefused(courier.advanceShipment({ shipment }), "NOT_VERIFIED", unverified("photo"));
  await data(courier.recordAttempt({ shipment, reason: "nobody_there" }));
  await expectRefused(as.getProofPhoto({ shipment }), "PICTURE_NOT_FOUND");
});

test("a PIN that was entered before a failed attempt is replaced, because the courier knows it", async () => {
  const { reference: shipment, dropoff_pin: first } = await createInTransit("pin");
  await data(courier.recordProof({ shipment, pin: first }));
  const failed = await data(courier.recordAttempt({ shipment, reason: "refused" }));
  expect(failed).toMatchObject({ dropoff_pin: null, proof: null });
  const { dropoff_pin: second } = await data(as.getShipment({ shipment }));
  expect(second).toMatch(/^\d{4}$/);
  expect(second).not.toBe(first);
  await expectPinWrong(shipment, first, "4 attempts are left");
  await data(courier.recordAttempt({ shipment, reason: "nobody_there" }));
  expect((await data(as.getShipment({ shipment }))).dropoff_pin).toBe(second);
  await data(courier.recordProof({ shipment, pin: second }));
  await data(courier.advanceShipment({ shipment }));
});

test("a second photo replaces the first even if the test clock is frozen", async () => {
  const { twin } = await service.addWorkspace();
  await data(service.as(twin.apiKey).moveTestClock({}));
  const { reference: shipment } = await bookAnd(service, twin.apiKey, ["pay", "advance"]);
  const caller = service.as(twin.apiKey);
  await data(caller.recordProof({ shipment, photo }));
  const other = Buffer.concat([
    SAMPLE_PICTURES.photo.subarray(0, -3),
    Buffer.from([0]),
    SAMPLE_PICTURES.photo.subarray(-2),
  ]);
  await data(caller.recordProof({ shipment, photo: other.toString("base64") }));
  const path = `/v1/shipments/${shipment}/proof/photo`;
  const read = await fetch(service.httpUrl + path, { headers: { "x-api-key": twin.apiKey } });
  expect(Buffer.from(await read.arrayBuffer())).toEqual(other);
});

test("rejects an empty proof and invalid pictures by field", async () => {
  const { reference: shipment } = await createInTransit("none");
  expect(await data(as.getShipment({ shipment }))).toMatchObject({
    dropoff_verification: "none",
    dropoff_pin: null,
  });
  const refused = (fields: object) => invalidFields(as.recordProof({ shipment, ...fields }));
  expect(await refused({})).toEqual(["photo"]);
  expect(await refused({ photo: signature })).toEqual(["photo"]);
  expect(await refused({ signature: photo })).toEqual(["signature"]);
  expect(await refused({ pin: "12345" })).toEqual(["pin"]);
  expect(await refused({ pin: "1234" })).toEqual(["pin"]);
  expect(await invalidFields(as.updateShipment({ shipment, dropoff_verification: "smile" }))).toEqual([
    "dropoff_verification",
  ]);
});

test("pictures are stored for 90 days", async () => {
  const [old, recent] = await Promise.all([createInTransit("photo"), createInTransit("photo")]);
  for (const { reference: shipment } of [old, recent]) await data(as.recordProof({ shipment, photo }));
  await runStatement(
    service.app.em,
    `update proof_picture set recorded_at = now() - interval '90 days 1 minute'
     where workspace_id = $1 and shipment_reference = $2`,
    [id, old["reference"]],
  );
  expect(await purgePictures(service.app.em)).toBe(1);
  await expectRefused(as.getProofPhoto({ shipment: old["reference"] }), "PICTURE_NOT_FOUND");
  expect((await as.getProofPhoto({ shipment: recent["reference"] })).status).toBe(200);
  expect((await data(as.getShipment({ shipment: old["reference"] }))).proof.photo).toBe(true);
});

test("a photo of the maximum size is accepted, and recognized when it is sent again", async () => {
  const { reference: shipment } = await createInTransit("photo");
  const comments: Buffer[] = [];
  let room = 5 * 1024 * 1024 - SAMPLE_PICTURES.photo.length;
  while (room > 0) {
    const comment = Buffer.alloc(Math.min(room, 65_000));
    comment.writeUInt32BE(0xfffe0000 + comment.length - 2);
    comments.push(comment);
    room -= comment.length;
  }
  const { photo: bytes } = SAMPLE_PICTURES;
  const large = Buffer.concat([bytes.subarray(0, 2), ...comments, bytes.subarray(2)]);
  const call = () =>
    service.request(`/v1/shipments/${shipment}/proof`, {
      apiKey,
      body: { photo: large.toString("base64") },
      headers: { "idempotency-key": "once" },
    });
  const first = await call();
  expect(first.status, first.text).toBe(200);
  expect(first.body.data.proof.photo).toBe(true);
  expect((await call()).body).toEqual(first.body);
  expect(
    await invalidFields(as.recordProof({ shipment, photo: Buffer.concat([large, bytes]).toString("base64") })),
  ).toEqual(["photo"]);
  await takeStep(service, apiKey, shipment, "advance");
});
