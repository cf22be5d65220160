import { create, fromBinary, getExtension, setExtension, toBinary } from "@bufbuild/protobuf";
import {
  type DescriptorProto,
  FieldOptionsSchema,
  type FieldDescriptorProto,
  FileDescriptorProtoSchema,
} from "@bufbuild/protobuf/wkt";
import type { Plugin } from "vite";
import { field as fieldRules, FieldRulesSchema, StringRulesSchema } from "../../../gen/buf/validate/validate_pb.js";

/**
 * Creates a plugin that removes the parts of the descriptors that pages do not read, a third of their size: paths,
 * roles and refusals of methods, duplicate names of optional fields, and field rules that `RequestFields` does not use.
 */
export function slimDescriptors(): Plugin {
  return {
    name: "slim-descriptors",
    transform(code, id) {
      if (!/\/gen\/shipments\/.*_pb\.js$/.test(id)) return undefined;
      return code.replace(/(?<=fileDesc\(\s*")[^"]+/, (text) => {
        const file = fromBinary(FileDescriptorProtoSchema, Buffer.from(text, "base64"));
        for (const { method } of file.service) for (const each of method) delete each.options;
        file.messageType.forEach(slimMessage);
        const slim = Buffer.from(toBinary(FileDescriptorProtoSchema, file));
        return slim.toString("base64").replace(/=+$/, "");
      });
    },
  };
}

function slimMessage({ field, nestedType, oneofDecl }: DescriptorProto): void {
  // Each optional field has a synthetic oneof, whose name is never read.
  for (const { oneofIndex, proto3Optional } of field) {
    if (proto3Optional) oneofDecl[oneofIndex]!.name = "_";
  }
  field.forEach(slimField);
  nestedType.forEach(slimMessage);
}

function slimField(field: FieldDescriptorProto): void {
  if (field.options === undefined) return;
  const { required, type } = getExtension(field.options, fieldRules);
  delete field.options;
  const { minLen = 0n, wellKnown } = type.case === "string" ? type.value : {};
  const isEmail = wellKnown?.case === "email";
  if (!required && minLen === 0n && !isEmail) return;
  const string = create(StringRulesSchema, {
    ...(minLen > 0n && { minLen }),
    ...(isEmail && { wellKnown }),
  });
  const rules = create(FieldRulesSchema, {
    ...(required && { required }),
    ...((minLen > 0n || isEmail) && { type: { case: "string", value: string } }),
  });
  field.options = create(FieldOptionsSchema);
  setExtension(field.options, fieldRules, rules);
}
