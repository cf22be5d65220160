import { create, fromJson, type JsonValue } from "@bufbuild/protobuf";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import { expect, test } from "vitest";
import { compileEncodeJson } from "../../src/json/encode-json.ts";
import { describeEveryKind } from "../support/every-kind.ts";

const schema = describeEveryKind();
const encode = compileEncodeJson(schema);

/** JSON of a message in which no field is set. */
const NOTHING = {
  number: 0,
  maybe: null,
  text: "",
  flag: false,
  blob: "",
  small: 0,
  small_count: 0,
  large: 0,
  large_count: 0,
  color: null,
  texts: [],
  colors: [],
  points: [],
  point: null,
  at: null,
  counts: {},
  word: null,
  figure: null,
};

test("encodes every field under its wire name and in order, even if nothing is set", () => {
  const json = encode(create(schema));
  expect(json).toStrictEqual(NOTHING);
  expect(Object.keys(json as object)).toEqual(schema.fields.map((it) => it.name));
});

test.each<[name: string, canonical: JsonValue, ours: unknown]>([
  ["number", 1.25, 1.25],
  ["maybe", 0, 0],
  ["text", "\u0000\u2028é𝄞", "\u0000\u2028é𝄞"],
  ["flag", true, true],
  ["blob", "AP+/", "AP+/"],
  ["small", -5, -5],
  ["small_count", 4294967295, 4294967295],
  ["large", "-9007199254740991", -9007199254740991],
  ["large_count", "42", 42],
  ["color", "COLOR_DARK_BLUE", "dark_blue"],
  ["colors", ["COLOR_RED", "COLOR_DARK_BLUE"], ["red", "dark_blue"]],
  ["texts", ["a", ""], ["a", ""]],
  [
    "points",
    [{}, { lat: 2 }],
    [
      { lat: null, east: null, west: null },
      { lat: 2, east: null, west: null },
    ],
  ],
  ["point", { west: "" }, { lat: null, east: null, west: "" }],
  ["at", "2026-01-31T10:30:00+01:00", "2026-01-31T09:30:00.000Z"],
  ["counts", { a: 1, constructor: 2 }, { a: 1, constructor: 2 }],
  ["word", "", ""],
  ["figure", 0, 0],
])("encodes the field %s, which is %j in protobuf's JSON, as %j", (name, canonical, ours) => {
  expect(encode(fromJson(schema, { [name]: canonical }))).toStrictEqual({
    ...NOTHING,
    [name]: ours,
  });
});

test("encodes an unknown enum value as null, like the unspecified one", () => {
  const message = Object.assign(create(schema), { color: 99 });
  expect(encode(message)).toStrictEqual(NOTHING);
});

test("compiling an encoder for a well-known type other than a timestamp fails", () => {
  expect(() => compileEncodeJson(AnySchema)).toThrow("google.protobuf.Any has no form in the JSON dialect");
});
