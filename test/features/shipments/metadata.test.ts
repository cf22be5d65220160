import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { mergeMetadata } from "../../../src/features/shipments/check-booking.ts";
import { data, expectRefused } from "../../support/answers.ts";
import { book, BOOKING } from "../../support/bookings.ts";
import { rpcError, rpcRefusal } from "../../support/rpc-error.ts";
import { sharedService } from "../../support/service.ts";

const service = await sharedService();
const { apiKey } = await service.addWorkspace();

const caller = service.as(apiKey);

const create = (metadata: unknown) => caller.createShipment({ ...BOOKING, metadata });

const update = (shipment: string, metadata: unknown) => caller.updateShipment({ shipment, metadata });

function notes(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`key ${i}`, `value ${i}`]));
}

test("metadata is returned trimmed, without blank values and null", async () => {
  const notes = {
    colour: " red ",
    constructor: "c",
    "ключ 🙂": "значение",
    blank: " ",
    none: null,
  };
  const { metadata, reference } = await book(service, apiKey, { metadata: notes });
  const kept = { colour: "red", constructor: "c", "ключ 🙂": "значение" };
  expect(metadata).toEqual(kept);
  const read = await data(caller.getShipment({ shipment: reference }));
  expect(read.metadata).toEqual(kept);
});

test("an update sets metadata, removes blank values, and leaves null and other keys unchanged", async () => {
  const { reference } = await book(service, apiKey, { metadata: { a: "1", b: "2", c: "3" } });
  const { body } = await update(reference, { a: "new", b: "", c: null, d: "4" });
  expect(body.data.metadata).toEqual({ a: "new", c: "3", d: "4" });
});

test("metadata has up to twenty keys, after a booking and after an update", async () => {
  const { reference, metadata } = await book(service, apiKey, { metadata: notes(20) });
  expect(metadata).toEqual(notes(20));
  const swapped = await update(reference, { "key 0": "", "key 20": "value 20" });
  expect(Object.keys(swapped.body.data.metadata)).toHaveLength(20);

  for (const refused of [update(reference, { more: "x" }), create(notes(21))])
    await expectRefused(refused, "FIELD_INVALID", { metadata: "metadata must have at most 20 keys." });
});

test.each([
  [{ "": "x" }, 'metadata[""]'],
  [{ ["k".repeat(41)]: "x" }, `metadata["${"k".repeat(41)}"]`],
  [{ k: "v".repeat(501) }, 'metadata["k"]'],
  [{ k: 1 }, 'metadata["k"]'],
  [{ k: { a: "b" } }, 'metadata["k"]'],
  [{ k: "a\0b" }, 'metadata["k"]'],
  [{ "k\0": "a" }, 'metadata["k\\u0000"]'],
  [JSON.parse('{"__proto__": "x"}') as object, 'metadata["__proto__"]'],
  [JSON.parse('{"__proto__": {"polluted": "x"}}') as object, 'metadata["__proto__"]'],
  ["a=b", "metadata"],
  [["a", "b"], "metadata"],
])("rejects invalid metadata as an error of its entry: %j", async (metadata, field) => {
  const { reference } = await book(service, apiKey);
  for (const { status, body } of [await create(metadata), await update(reference, metadata)]) {
    expect([status, Object.keys(body.errors)]).toEqual([422, [field]]);
  }
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
});

test("rejects the metadata key __proto__ over gRPC as over JSON", async () => {
  const { reference } = await book(service, apiKey);
  const grpc = service.grpcClient(apiKey);
  const metadata = JSON.parse('{"__proto__": "x", "k": "v"}') as Record<string, string>;
  const text = 'metadata["__proto__"] is not allowed. Use another key.';
  expect(await rpcError(grpc.updateShipment({ shipment: reference, metadata }))).toEqual(
    rpcRefusal("InvalidArgument", "FIELD_INVALID", text, 'metadata["__proto__"]'),
  );
});

describe("mergeMetadata", () => {
  test("overwrites current entries and removes blank ones", () => {
    const current = { a: "1", b: "2", c: "3" };
    expect(mergeMetadata(current, { a: "new", b: "", d: "4", e: "" })).toEqual({
      a: "new",
      c: "3",
      d: "4",
    });
    expect(current).toEqual({ a: "1", b: "2", c: "3" });
  });

  test("treats names of Object.prototype as ordinary keys", () => {
    const notes = { constructor: "a", toString: "b", hasOwnProperty: "c" };
    expect(mergeMetadata({}, notes)).toEqual(notes);
    expect(mergeMetadata(notes, { constructor: "" })).toEqual({
      toString: "b",
      hasOwnProperty: "c",
    });
  });

  test("changes nothing if the same metadata is merged twice", () => {
    const notes = fc.dictionary(fc.string({ maxLength: 3 }), fc.string({ maxLength: 2 }), {
      maxKeys: 9,
    });
    fc.assert(
      fc.property(notes, notes, (current, changes) => {
        const once = mergeMetadata(mergeMetadata({}, current), changes);
        expect(mergeMetadata(once, changes)).toEqual(once);
        expect(Object.values(once)).not.toContain("");
      }),
    );
  });
});
