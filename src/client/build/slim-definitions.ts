import { clearField, create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  FieldDescriptorProto_Label,
  FieldDescriptorProtoSchema,
  FileDescriptorProtoSchema,
  MessageOptionsSchema,
  MethodOptionsSchema,
  type DescriptorProto,
  type MethodDescriptorProto,
} from "@bufbuild/protobuf/wkt";
import type { Plugin } from "vite";

/** Files that contain only options. */
const OPTION_FILES = /buf_validate|google_api|_options/;

/**
 * Removes the parts of the definitions that clients do not read, a third of their size: field rules, paths, roles,
 * refusals, default labels, and duplicate names of optional fields. Keeps the option that declares whether a method
 * writes.
 */
export function slimDefinitions(): Plugin {
  return {
    name: "slim-definitions",
    transform(code, id) {
      if (!/\/gen\/.*_pb\.js$/.test(id)) return undefined;
      return code.replace(/fileDesc\("([^"]+)"(?:, \[(.*?)\])?\)/, (_, text: string, names = "") => {
        const imports = String(names)
          .split(", ")
          .filter((name) => !OPTION_FILES.test(name));
        // The text is not base64, which would encode equal names differently, so that gzip could not compress them.
        const binary = JSON.stringify(slimFile(text));
        return `fileDesc(/*@__PURE__*/ btoa(${binary}), [${imports.join(", ")}])`;
      });
    },
  };
}

/**
 * Removes options from a file.
 *
 * @param base64 a `FileDescriptorProto`
 * @returns the smaller `FileDescriptorProto`, as a string with one character per byte
 */
function slimFile(base64: string): string {
  const file = fromBinary(FileDescriptorProtoSchema, Buffer.from(base64, "base64"));
  delete file.options;
  for (const { method } of file.service) method.forEach(slimMethod);
  file.messageType.forEach(slimMessage);
  return Buffer.from(toBinary(FileDescriptorProtoSchema, file)).toString("latin1");
}

function slimMethod(method: MethodDescriptorProto): void {
  const { idempotencyLevel = 0 } = method.options ?? {};
  if (idempotencyLevel === 0) delete method.options;
  else method.options = create(MethodOptionsSchema, { idempotencyLevel });
}

function slimMessage(message: DescriptorProto): void {
  for (const field of message.field) {
    delete field.options;
    if (field.label === FieldDescriptorProto_Label.OPTIONAL) {
      clearField(field, FieldDescriptorProtoSchema.field.label);
    }
    // Each optional field has a synthetic oneof, whose name is unused.
    if (field.proto3Optional) message.oneofDecl[field.oneofIndex]!.name = "_";
  }
  if (message.options?.mapEntry) {
    message.options = create(MessageOptionsSchema, { mapEntry: true });
  } else delete message.options;
  message.nestedType.forEach(slimMessage);
}
