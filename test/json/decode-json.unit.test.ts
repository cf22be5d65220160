import { toJson } from "@bufbuild/protobuf";
import { AnySchema, FieldDescriptorProto_Type as Type } from "@bufbuild/protobuf/wkt";
import { describe, expect, test } from "vitest";
import { UpdateShipmentRequestSchema, type UpdateShipmentRequest } from "../../gen/shipments/v1/shipment_service_pb.js";
import { compileDecodeJson } from "../../src/json/decode-json.ts";
import { describeEveryKind, describeFields, field } from "../support/every-kind.ts";

const schema = describeEveryKind();
const decode = compileDecodeJson(schema);

/** Decodes JSON and returns the message in protobuf's JSON, which omits unset fields. */
function read(json: object) {
  const { request, violations } = decode(json);
  return { request: toJson(schema, request, { useProtoFieldName: true }), violations };
}

describe("decodes a value of the field's type", () => {
  test.each<[name: string, value: unknown, read: unknown]>([
    ["number", 1.5, 1.5],
    ["number", -0.25, -0.25],
    ["number", 5e-324, 5e-324],
    ["number", 1.7976931348623157e308, 1.7976931348623157e308],
    ["maybe", 0, 0],
    ["text", "  as it is\u0000 ", "  as it is\u0000 "],
    ["flag", true, true],
    ["blob", "AP8=", "AP8="],
    ["small", -(2 ** 31), -(2 ** 31)],
    ["small", 2 ** 31 - 1, 2 ** 31 - 1],
    ["small", 3.0, 3],
    ["small_count", 2 ** 32 - 1, 2 ** 32 - 1],
    ["large", Number.MIN_SAFE_INTEGER, "-9007199254740991"],
    ["large", Number.MAX_SAFE_INTEGER, "9007199254740991"],
    ["large", 1e3, "1000"],
    ["large_count", Number.MAX_SAFE_INTEGER, "9007199254740991"],
    ["color", "dark_blue", "COLOR_DARK_BLUE"],
    ["texts", ["a", "b"], ["a", "b"]],
    ["colors", ["red", "red"], ["COLOR_RED", "COLOR_RED"]],
    ["points", [{ lat: 1 }, {}], [{ lat: 1 }, {}]],
    ["point", {}, {}],
    ["point", { lat: 0 }, { lat: 0 }],
    ["at", "2026-01-31T09:30:00Z", "2026-01-31T09:30:00Z"],
    ["at", "2026-01-31T09:30:00.125+05:30", "2026-01-31T04:00:00.125Z"],
    ["at", "2024-02-29t23:59:59z", "2024-02-29T23:59:59Z"],
    ["at", "1969-12-31T23:59:59.000000001Z", "1969-12-31T23:59:59.000000001Z"],
    ["at", "2026-01-31T09:30:00.0005-03:00", "2026-01-31T12:30:00.000500Z"],
    ["counts", { a: 1, toString: 2 }, { a: 1, toString: 2 }],
    ["word", "w", "w"],
    ["figure", 0, 0],
  ])("%s: %j", (name, value, expected) => {
    expect(read({ [name]: value })).toEqual({ request: { [name]: expected }, violations: [] });
  });
});

describe("reports a value of another type with the field", () => {
  test.each<[name: string, subject: string, must: string, values: unknown[]]>([
    ["number", "number", "must be a number", ["1", "NaN", true, [], {}, [1]]],
    ["number", "number", "is too large. Its magnitude must be below 1.8e308", [Infinity, -Infinity]],
    [
      "at",
      "at",
      "contains a date that does not exist: 2026-02-29",
      ["2026-02-29T00:00:00Z", "2026-02-29T23:59:59+02:00"],
    ],
    ["text", "text", "must be a string", [1, false, [], {}, ["a"]]],
    ["flag", "flag", "must be true or false", ["true", 0, 1, [], {}]],
    ["blob", "blob", "must be a base64 string", ["!", 5, [], {}]],
    [
      "small",
      "small",
      "must be a whole number from -2147483648 to 2147483647",
      [1.5, "1", 2 ** 31, -(2 ** 31) - 1, true, [], Infinity],
    ],
    ["small_count", "small_count", "must be a whole number from 0 to 4294967295", [-1, 0.5, 2 ** 32]],
    [
      "large",
      "large",
      "must be a whole number from -9007199254740991 to 9007199254740991",
      ["1", 0.1, 2 ** 53, -(2 ** 53), 1e308, {}],
    ],
    ["large_count", "large_count", "must be a whole number from 0 to 9007199254740991", [-1, 2 ** 53]],
    [
      "color",
      "color",
      "must be one of red, dark_blue",
      ["RED", "COLOR_RED", "unspecified", "", 1, true, [], {}, "constructor"],
    ],
    ["texts", "texts", "must be a list", ["a", {}, 1]],
    ["points", "points", "must be a list", [{}, "a"]],
    ["point", "point", "must be an object", [[], "a", 1, true]],
    [
      "at",
      "at",
      "must be an RFC 3339 timestamp such as 2026-01-31T09:30:00Z",
      [
        "2026-01-31",
        "2026-01-31T09:30:00",
        "2026-01-31 09:30:00Z",
        "2026-13-01T00:00:00Z",
        "2026-01-31T24:00:00Z",
        "2026-01-31T09:30:00+24:00",
        "yesterday",
        "",
        1769851800,
        {},
      ],
    ],
    ["counts", "counts", "must be an object", [[], "a", 1]],
  ])("%s", (name, subject, must, values) => {
    for (const value of values) {
      const violations = [{ reason: "FIELD_INVALID", subject, text: `${subject} ${must}.` }];
      expect(read({ [name]: value }), JSON.stringify(value)).toEqual({ request: {}, violations });
    }
  });
});

test("treats null as absent for every field", () => {
  const nulls = Object.fromEntries(schema.fields.map(({ name }) => [name, null]));
  expect(read(nulls)).toEqual({ request: {}, violations: [] });
  expect(read({})).toEqual({ request: {}, violations: [] });
});

test("ignores unknown fields with any value and returns their paths", () => {
  const json = JSON.parse(
    '{"nope": 1, "smallCount": 1, "__proto__": {"text": "t"}, "constructor": {}, "text": "t", "flag": null, "points": [{}, {"latt": 1}], "point": {"lat": 1, "lats": {"x": 1}}, "counts": {"any": 1}}',
  );
  expect(read(json)).toEqual({
    request: { text: "t", points: [{}, {}], point: { lat: 1 }, counts: { any: 1 } },
    violations: [],
  });
  expect(decode(json).unknown).toEqual([
    "points[1].latt",
    "point.lats",
    "nope",
    "smallCount",
    "__proto__",
    "constructor",
  ]);
});

test("limits the number of reported unknown fields and the length of their names", () => {
  const points = Array.from({ length: 1_000 }, () => ({ ["x".repeat(5_000)]: 1 }));
  const { unknown } = decode({ points });
  expect(unknown).toEqual(Array.from({ length: 20 }, (_, i) => `points[${i}].${"x".repeat(100)}…`));
});

test("in a request with the field clear, an empty list or map clears its field, and one with contents does not", () => {
  const decodeJson = compileDecodeJson(UpdateShipmentRequestSchema);
  const cleared = (json: object) => (decodeJson(json).request as UpdateShipmentRequest).clear;
  expect(cleared({ metadata: {} })).toEqual(["metadata"]);
  expect(cleared({ metadata: {}, clear: ["metadata"] })).toEqual(["metadata"]);
  for (const metadata of [null, undefined, "", { a: null }, { a: "" }]) {
    expect([metadata, cleared({ metadata })]).toEqual([metadata, []]);
  }
});

test("ignores inherited properties of an object", () => {
  expect(read(Object.create({ text: "t" }))).toEqual({ request: {}, violations: [] });
});

test("reports all violations together with their paths, in field order", () => {
  const { violations } = read({
    points: [{ lat: "x" }, null, 5],
    counts: { a: 1, "b c": "x", d: null },
    texts: ["ok", 1, null],
    point: { lat: [] },
    number: "1",
  });
  expect(violations.map(({ subject, text }) => [subject, text])).toEqual([
    ["number", "number must be a number."],
    ["texts[1]", "texts[1] must be a string."],
    ["texts[2]", "texts[2] must not be null."],
    ["points[0].lat", "points[0].lat must be a number."],
    ["points[1]", "points[1] must not be null."],
    ["points[2]", "points[2] must be an object."],
    ["point.lat", "point.lat must be a number."],
    ['counts["b c"]', 'counts["b c"] must be a whole number from -2147483648 to 2147483647.'],
  ]);
});

test("a oneof accepts only one of its fields", () => {
  const { violations } = read({ word: "w", figure: 1, point: { east: "e", west: "w" } });
  expect(violations.map(({ subject, text }) => [subject, text])).toEqual([
    ["point.west", "point.west cannot be combined with another field of side."],
    ["figure", "figure cannot be combined with another field of choice."],
  ]);
});

test("a map accepts a name of Object.prototype as a key", () => {
  const { request } = decode(JSON.parse('{"counts": {"__proto__": 1}}'));
  expect(Object.entries((request as unknown as { counts: object }).counts)).toEqual([["__proto__", 1]]);
});

test("compiling a decoder for a float or a well-known type fails", () => {
  expect(() => compileDecodeJson(describeFields(field("f", 1, Type.FLOAT)))).toThrow(
    "the scalar type FLOAT has no form in the JSON dialect",
  );
  expect(() => compileDecodeJson(AnySchema)).toThrow("google.protobuf.Any has no form in the JSON dialect");
});
