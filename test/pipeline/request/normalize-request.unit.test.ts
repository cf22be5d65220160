import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { describe, expect, test } from "vitest";
import { CreateShipmentRequestSchema } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { compileNormalizeRequest } from "../../../src/pipeline/request/normalize-request.ts";

const normalizeRequest = compileNormalizeRequest(CreateShipmentRequestSchema);

function normalize(fields: MessageInitShape<typeof CreateShipmentRequestSchema>) {
  const request = create(CreateShipmentRequestSchema, fields);
  const violations = normalizeRequest(request);
  return { request, texts: violations.map(({ text }) => text) };
}

const nameOf = (customerName: string) => normalize({ customerName }).request.customerName;

describe("normalized text", () => {
  test.each([
    ["trimmed", "\u3000Ada \ufeff\n", "Ada"],
    ["composed to NFC", "Jose\u0301 Nguye\u0302\u0303n", "Jos\u00e9 Nguy\u1ec5n"],
    ["stripped of directional embeddings and overrides", "\u202eadA\u202c \u202aK\u202c", "adA K"],
    ["composed across an override", "e\u202e\u0301", "\u00e9"],
    ["unchanged otherwise", "\u05d0\u200f 👩\u200d💻 a\u00adb \u2068x\u2069", undefined],
  ])("is %s", (_, sent, stored = sent) => {
    expect(nameOf(sent)).toBe(stored);
  });

  test.each(["", " ", "\u200b", "\u2060", "\u00ad", "\u202e", "\u3164", "\u2800", "\u0007", "\ufe0f"])(
    "is blank for %j",
    (text) => {
      expect(nameOf(text)).toBe("");
      expect(nameOf(` ${text}${text} `)).toBe("");
      expect(normalize({ recipientName: text }).request.recipientName).toBeUndefined();
    },
  );
});

describe("an email", () => {
  const emailOf = (customerEmail: string) => {
    const { request, texts } = normalize({ customerEmail });
    return [request.customerEmail, texts];
  };

  test.each([
    ["Ada@b\u00fccher.example", "Ada@xn--bcher-kva.example"],
    ["ada@bu\u0308cher.example", "ada@xn--bcher-kva.example"],
    ["ada@B\u00dcCHER\u3002example", "ada@xn--bcher-kva.example"],
    ["ada@\u4f8b\u5b50.example", "ada@xn--fsqu00a.example"],
    // Stays unchanged, so that the field's rule rejects it.
    ["ada@b\u00fc cher.example", "ada@b\u00fc cher.example"],
    ["b\u00fccher.example", "b\u00fccher.example"],
    ["ada@127.1", "ada@127.1"],
  ])("%j has its domain converted to ASCII", (sent, stored) => {
    expect(emailOf(sent)).toEqual([stored, []]);
  });

  test.each([`${"a".repeat(65)}@example.org`, "a..b@example.org", ".a@example.org", "a.@x.org"])(
    "%s is refused",
    (sent) => {
      const text =
        "customer_email must have at most 64 characters before the @, with single dots only between other characters.";
      expect(emailOf(sent)).toEqual([sent, [text]]);
      expect(emailOf(`a.b-${"c".repeat(60)}@example.org`)[1]).toEqual([]);
    },
  );
});

describe("normalizes a map's keys and values", () => {
  test("to NFC", () => {
    const { request, texts } = normalize({ metadata: { "e\u0301": "e\u0301", b: "\u200b" } });
    expect([request.metadata, texts]).toEqual([{ "\u00e9": "\u00e9", b: "" }, []]);
  });

  test("and refuses two keys that differ only in their form", () => {
    const { texts } = normalize({ metadata: { "\u00e9": "1", "e\u0301": "2" } });
    expect(texts).toEqual(['metadata["e\u0301"] is given twice. Use another key.']);
  });
});
