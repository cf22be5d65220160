import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Refusal } from "../../../src/domain/refusal.ts";
import { mergeMetadata } from "../../../src/features/shipments/check-booking.ts";
import { book, BOOKING } from "../../support/bookings.ts";
import { errorBody } from "../../support/endpoints.ts";
import { rpcError, rpcRefusal } from "../../support/rpc-error.ts";
import { sharedService } from "../../support/service.ts";

const service = await sharedService();
const { apiKey } = await service.addWorkspace();

function create(metadata: unknown) {
  return service.request("/v1/shipments", { apiKey, body: { ...BOOKING, metadata } });
}

function update(reference: string, metadata: unknown) {
  const body = { metadata };
  return service.request(`/v1/shipments/${reference}`, { apiKey, method: "PATCH", body });
}

function notes(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`key ${i}`, `value ${i}`]));
}

test("metadata is returned as given, trimmed; blank values and null count as none", async () => {
  const given = {
    colour: " red ",
    constructor: "c",
    "ключ 🙂": "значение",
    blank: " ",
    none: null,
  };
  const { metadata, reference } = await book(service, apiKey, { metadata: given });
  const kept = { colour: "red", constructor: "c", "ключ 🙂": "значение" };
  expect(metadata).toEqual(kept);
  const read = await service.request(`/v1/shipments/${reference}`, { apiKey });
  expect(read.body.data.metadata).toEqual(kept);
});

test("an update sets metadata, removes blank values, and leaves what is null or not named", async () => {
  const { reference } = await book(service, apiKey, { metadata: { a: "1", b: "2", c: "3" } });
  const { body } = await update(reference, { a: "new", b: "", c: null, d: "4" });
  expect(body.data.metadata).toEqual({ a: "new", c: "3", d: "4" });
});

test("metadata has at most twenty keys, after a booking and after an update", async () => {
  const { reference, metadata } = await book(service, apiKey, { metadata: notes(20) });
  expect(metadata).toEqual(notes(20));
  const swapped = await update(reference, { "key 0": "", "key 20": "value 20" });
  expect(Object.keys(swapped.body.data.metadata)).toHaveLength(20);

  const text = "metadata must have at most 20 keys.";
  const { status, body } = await update(reference, { more: "x" });
  expect({ status, body }).toEqual({ status: 422, body: errorBody(text, "metadata") });
  const created = await create(notes(21));
  expect([created.status, Object.keys(created.body.errors)]).toEqual([422, ["metadata"]]);
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
])("invalid metadata is refused as the error of its entry: %j", async (metadata, field) => {
  const { reference } = await book(service, apiKey);
  for (const { status, body } of [await create(metadata), await update(reference, metadata)]) {
    expect(status).toBe(422);
    expect(body).toEqual({
      message: body.errors[field]?.[0],
      errors: { [field]: [expect.any(String)] },
    });
  }
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
});

test("the metadata key __proto__ is refused by gRPC as by JSON", async () => {
  const { reference } = await book(service, apiKey);
  const grpc = service.grpcClient(apiKey);
  const metadata = JSON.parse('{"__proto__": "x", "k": "v"}') as Record<string, string>;
  const text = 'metadata["__proto__"] is not a key that can be used.';
  expect(await rpcError(grpc.updateShipment({ shipment: reference, metadata }))).toEqual(
    rpcRefusal("InvalidArgument", "FIELD_INVALID", text, 'metadata["__proto__"]'),
  );
});

describe("mergeMetadata", () => {
  test("overwrites current entries, and removes those that are blank", () => {
    const current = { a: "1", b: "2", c: "3" };
    expect(mergeMetadata(current, { a: "new", b: "", d: "4", e: "" })).toEqual({
      a: "new",
      c: "3",
      d: "4",
    });
    expect(current).toEqual({ a: "1", b: "2", c: "3" });
  });

  test("allows at most twenty keys, counted after the merge", () => {
    const twenty = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`k${i}`, "v"]));
    expect(mergeMetadata(twenty, {})).toEqual(twenty);
    expect(Object.keys(mergeMetadata(twenty, { more: "v", k0: "" }))).toHaveLength(20);
    expect(() => mergeMetadata(twenty, { more: "v" })).toThrow(
      new Refusal([
        {
          reason: "FIELD_INVALID",
          subject: "metadata",
          text: "metadata must have at most 20 keys.",
        },
      ]),
    );
  });

  test("treats names of Object.prototype as ordinary keys", () => {
    const notes = { constructor: "a", toString: "b", hasOwnProperty: "c" };
    expect(mergeMetadata({}, notes)).toEqual(notes);
    expect(mergeMetadata(notes, { constructor: "" })).toEqual({
      toString: "b",
      hasOwnProperty: "c",
    });
  });

  test("changes nothing when the same metadata is merged twice", () => {
    const notes = fc.dictionary(fc.string({ maxLength: 3 }), fc.string({ maxLength: 2 }), {
      maxKeys: 9,
    });
    fc.assert(
      fc.property(notes, notes, (current, given) => {
        const once = mergeMetadata(mergeMetadata({}, current), given);
        expect(mergeMetadata(once, given)).toEqual(once);
        expect(Object.values(once)).not.toContain("");
      }),
    );
  });
});
