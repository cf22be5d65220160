import { ScalarType, type DescField, type DescMessage } from "@bufbuild/protobuf";
import fc from "fast-check";

/** Arbitrary text, often text that has broken programs. Filter with `isWellFormed` to send it as UTF-8. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    "",
    " ",
    "\u0000",
    "a\u0000b",
    "\ud800",
    "\udfff\ud800",
    "\u202e\u05e9\u05dc\u05d5\u05dd",
    "\ufeff",
    "\uffff",
    "%s%n$1{{7*7}}${1}",
    "'; drop table shipment; --",
    "__proto__",
    "x".repeat(10_000),
    "🚲".repeat(500),
  ),
  fc.string({ unit: "binary", maxLength: 50 }),
  fc.string({ unit: "grapheme", maxLength: 50 }),
);

/** Arbitrary doubles, often edge values. */
const anyDouble: fc.Arbitrary<number> = fc.oneof(
  fc.constantFrom(0, -0, 5e-324, -5e-324, 1e308, -1e308, 90, -180, 0.01, NaN, Infinity, -Infinity),
  fc.double(),
);

/** JSON text of arbitrary values, including forms that JSON.stringify never writes. */
export const anyJsonText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom("1e999", "-1e999", "-0", "5e-324", "1e308", "9007199254740993", "1E400", "0.1e-7"),
  fc.constantFrom("null", "true", "[]", "{}", '[[[{"a":[null]}]]]', '"\\ud800"', '"\\u0000"'),
  fc.constant("[".repeat(20_000) + "]".repeat(20_000)),
  anyText.map((text) => JSON.stringify(text)),
  fc.json(),
);

/** Returns arbitrary values that a field of this kind can hold. */
function anyFieldValue(field: DescField): fc.Arbitrary<unknown> {
  switch (field.fieldKind) {
    case "scalar":
      return anyScalar(field.scalar);
    case "enum":
      return fc.integer({ min: -1, max: 10 });
    case "message":
      return anyMessage(field.message, {});
    case "list":
      return fc.array(field.message ? anyMessage(field.message, {}) : anyScalar(field.scalar!), {
        maxLength: 120,
      });
    case "map":
      return fc.dictionary(
        anyText.filter((text) => text.isWellFormed()),
        anyScalar(field.scalar!),
      );
  }
}

function anyScalar(scalar: ScalarType): fc.Arbitrary<unknown> {
  switch (scalar) {
    case ScalarType.STRING:
      return anyText.filter((text) => text.isWellFormed());
    case ScalarType.DOUBLE:
      return anyDouble;
    case ScalarType.BOOL:
      return fc.boolean();
    case ScalarType.INT32:
      return fc.integer();
    case ScalarType.BYTES:
      return fc.uint8Array({ maxLength: 300 });
    case ScalarType.INT64:
      return fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
    default:
      throw new Error(`unsupported scalar type: ${ScalarType[scalar]}`);
  }
}

/** Returns arbitrary messages of this type. A few fields are extreme, the others are as in `usual`. */
export function anyMessage(schema: DescMessage, usual: Readonly<Record<string, unknown>>): fc.Arbitrary<object> {
  const fields = schema.fields.map((field): [string, fc.Arbitrary<unknown>] => [
    field.localName,
    fc.oneof({ arbitrary: fc.constant(usual[field.name]), weight: 9 }, { arbitrary: anyFieldValue(field), weight: 1 }),
  ]);
  return fc.record(Object.fromEntries(fields)).map((message) => {
    const entries = Object.entries(message).filter(([, value]) => value !== undefined);
    return Object.fromEntries(entries);
  });
}

/** Returns JSON text for a request of this type. Some texts are only nearly valid JSON. */
export function anyJsonObject(schema: DescMessage, usual: Readonly<Record<string, unknown>>): fc.Arbitrary<string> {
  const fields = schema.fields.map((field) => {
    const value = JSON.stringify(usual[field.name] ?? null);
    return fc
      .oneof({ arbitrary: fc.constant(value), weight: 9 }, { arbitrary: anyJsonText, weight: 1 })
      .map((text) => `${JSON.stringify(field.name)}:${text}`);
  });
  const extra = fc
    .tuple(fc.constantFrom("__proto__", "constructor", "toString", "", "id"), anyJsonText)
    .map(([name, text]) => `${JSON.stringify(name)}:${text}`);
  return fc
    .tuple(fc.tuple(...fields), fc.array(extra, { maxLength: 2 }))
    .map(([usualFields, extras]) => `{${[...usualFields, ...extras].join(",")}}`);
}
