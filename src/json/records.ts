import type { DescEnum, DescMessage, Message, MessageShape } from "@bufbuild/protobuf";
import type { GenEnum } from "@bufbuild/protobuf/codegenv2";
import { timestampFromMs, type Timestamp } from "@bufbuild/protobuf/wkt";
import { createMapperCompiler } from "./compile-mapper.ts";
import { enumNames, enumNumbers } from "./decode-scalar.ts";

/** A date, milliseconds since the epoch, or RFC 3339 text in UTC as `toISOString` writes it. */
type Time = Date | number | string;

type Recorded<Value> = Value extends Timestamp
  ? Time
  : Value extends Message
    ? RecordOf<Value>
    : Value extends bigint
      ? number | bigint
      : Value extends number
        ? // An enum. Records contain its name.
          `${number}` extends `${Value}`
          ? number
          : string
        : Value extends string | boolean | Uint8Array
          ? Value
          : Value extends readonly (infer Item)[]
            ? readonly Recorded<Item>[]
            : { readonly [Key in keyof Value]: Recorded<Value[Key]> };

/**
 * A message in the form of database rows and entities: enum names as in the JSON dialect, numbers for 64-bit
 * integers, null or undefined for unset fields. A record must have all fields of the message and can have more.
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

// The last time is cached. Several times in a record are often equal, and formatting a time takes as
// long as all other fields.
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

/** Compiles a conversion from records to messages. Lists and maps are not copied. */
export function compileToMessage<Desc extends DescMessage>(schema: Desc) {
  return compileMessage(schema) as (record: RecordOf<MessageShape<Desc>>) => MessageShape<Desc>;
}

/** Compiles a conversion from records to their messages' JSON in the dialect of `/v1`. */
export function compileToJson<Desc extends DescMessage>(schema: Desc) {
  return compileJson(schema) as (record: RecordOf<MessageShape<Desc>>) => object;
}

/** Compiles a conversion of a caller's enum value to its name in records. Unspecified values become `undefined`. */
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
