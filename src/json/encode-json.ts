import type { DescMessage, Message } from "@bufbuild/protobuf";
import { timestampDate, type Timestamp } from "@bufbuild/protobuf/wkt";
import { createMapperCompiler } from "./compile-mapper.ts";
import { enumNames } from "./decode-scalar.ts";

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/**
 * Compiles an encoder to the JSON dialect of `/v1`. Fields have wire names and are always present, unset fields
 * are null, enum values are lower case without prefix, integers are numbers, and timestamps follow RFC 3339.
 *
 * @throws Error at startup for a message that the dialect does not support
 */
export const compileEncodeJson = createMapperCompiler({
  nameOf: ({ name }) => name,
  unset: "null",
  integer: Number,
  bytes: (bytes: Uint8Array) => bytes.toBase64(),
  enumOf(schema) {
    const names = enumNames(schema);
    return (value: number) => names.get(value) ?? null;
  },
  time: (timestamp: Timestamp) => timestampDate(timestamp).toISOString(),
}) as (schema: DescMessage) => (message: Message) => JsonValue;
