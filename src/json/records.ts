import type { DescEnum, DescMessage, Message, MessageShape } from "@bufbuild/protobuf";
import type { GenEnum } from "@bufbuild/protobuf/codegenv2";
import { timestampFromMs, type Timestamp } from "@bufbuild/protobuf/wkt";
import { createMapperCompiler } from "./compile-mapper.ts";
import { enumNames, enumNumbers } from "./decode-scalar.ts";

/** A date, milliseconds since the epoch, or RFC 3339 in UTC in the format of `toISOString`. */
type Time = Date | number | string;

type Recorded<Value> = Value extends Timestamp
  ? Time
  : Value extends Message
    ? RecordOf<Value>
    : Value extends bigint
      ? number | bigint
      : Value extends number
        ? // An enum, of which a record has the name.
          `${number}` extends `${Value}`
          ? number
          : string
        : Value extends string | boolean | Uint8Array
          ? Value
          : Value extends readonly (infer Item)[]
            ? readonly Recorded<Item>[]
            : { readonly [Key in keyof Value]: Recorded<Value[Key]> };

/**
 * A message in the form of rows and entities: enum names of the JSON dialect, whole numbers as numbers, null or
 * undefined for unset fields. It must have all fields of the message and can have more.
 */
export type RecordOf<M extends Message> = {
  readonly [Field in Exclude<keyof M, "$typeName" | "$unknown">]-?: undefined extends M[Field]
    ? Recorded<NonNullable<M[Field]>> | null | undefined
    : Recorded<M[Field]>;
};

const compileMessage = createMapperCompiler({
  nameOf: ({ localName }) => localName,
  unset: "undefined",
  integer: BigInt,
  enumOf: (schema) => compileEnumNumber(schema as GenEnum<number>),
  time: (time: Time) => timestampFromMs(new Date(time).getTime()),
  isMessage: true,
});

// Times of a record are often equal, and formatting one takes as long as all other fields.
let last = { ms: 0, text: new Date(0).toISOString() };

function jsonTime(time: Time): string {
  if (typeof time === "string") return time;
  const ms = Number(time);
  if (last.ms !== ms) last = { ms, text: new Date(ms).toISOString() };
  return last.text;
}

const compileJson = createMapperCompiler({
  nameOf: ({ name }) => name,
  unset: "null",
  integer: Number,
  bytes: (bytes: Uint8Array) => bytes.toBase64(),
  time: jsonTime,
});

/** Compiles a conversion from records to messages, which share the records' lists and maps. */
export function compileToMessage<Desc extends DescMessage>(schema: Desc) {
  return compileMessage(schema) as (record: RecordOf<MessageShape<Desc>>) => MessageShape<Desc>;
}

/** Compiles a conversion from records to the JSON of their messages in the dialect of `/v1`. */
export function compileToJson<Desc extends DescMessage>(schema: Desc) {
  return compileJson(schema) as (record: RecordOf<MessageShape<Desc>>) => object;
}

/** Converts an enum value of a caller to its form in records. `undefined` if not set. */
export function compileEnumName<Name extends string>(schema: DescEnum) {
  const names = enumNames(schema) as ReadonlyMap<number | undefined, Name>;
  return (sent: number | undefined) => names.get(sent);
}

export function compileEnumNumber<Shape extends number>(schema: GenEnum<Shape>) {
  const numbers = enumNumbers(schema);
  return (name: string) => {
    const number = numbers.get(name);
    if (number === undefined) throw new Error(`${schema.typeName} has no value ${name}`);
    return number as Shape;
  };
}
