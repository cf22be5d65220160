import type { Plugin } from "vite";

/**
 * `buf/validate/validate.proto` with nothing in it but its name and package: a serialized
 * `FileDescriptorProto` in base64.
 */
const EMPTY_FILE = Buffer.concat([
  field(1, "buf/validate/validate.proto"),
  field(2, "buf.validate"),
  field(12, "proto3"),
]).toString("base64");

/** A field of text (wire type 2) shorter than 128 bytes. */
function field(number: number, text: string): Buffer {
  return Buffer.concat([Buffer.from([(number << 3) | 2, text.length]), Buffer.from(text)]);
}

/**
 * Leaves the declarations of validation rules out of what is built, 13 kB compressed: the service
 * checks requests, and the pages show what it says. Messages only name the file they come from.
 */
export function omitRules(): Plugin {
  return {
    name: "omit-rules",
    enforce: "pre",
    load(id) {
      if (!id.endsWith("/gen/buf/validate/validate_pb.js")) return undefined;
      return `import { fileDesc } from "@bufbuild/protobuf/codegenv2";
export const file_buf_validate_validate = /*@__PURE__*/ fileDesc("${EMPTY_FILE}");`;
    },
  };
}
