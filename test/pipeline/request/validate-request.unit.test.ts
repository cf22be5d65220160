import { ScalarType, type DescField, type DescMessage } from "@bufbuild/protobuf";
import { nestedTypes } from "@bufbuild/protobuf/reflect";
import { file_buf_validate_validate as theirs } from "@bufbuild/protovalidate/gen/buf/validate/validate_pb.js";
import { describe, expect, test } from "vitest";
import { field as ourOption, file_buf_validate_validate as ours } from "../../../gen/buf/validate/validate_pb.js";

/** Returns the properties on which a field's encoding and meaning depend. */
function shapeOf(field: DescField) {
  const { name, number, fieldKind, oneof, message } = field;
  return {
    name,
    number,
    fieldKind,
    oneof: oneof?.name,
    type: message?.typeName ?? field.enum?.typeName ?? ScalarType[field.scalar as ScalarType],
  };
}

function messageIn(file: typeof theirs, typeName: string): DescMessage {
  const found = [...nestedTypes(file)].find((type) => type.typeName === typeName);
  if (found?.kind !== "message") throw new Error(`Protovalidate has no ${typeName}`);
  return found;
}

describe("our declared validation rules have the same name, number and type as Protovalidate's", () => {
  const messages = [...nestedTypes(ours)].filter((type) => type.kind === "message");
  const fields = messages.flatMap((message) => message.fields);

  test.each(fields.map((field) => [field.toString(), field] as const))("%s", (_, field) => {
    const { fields: known } = messageIn(theirs, field.parent.typeName);
    expect(shapeOf(field)).toEqual(shapeOf(known.find((it) => it.name === field.name) as DescField));
  });

  test("and so has the option that contains them", () => {
    const known = theirs.extensions.find((it) => it.name === "field");
    expect(ourOption.typeName).toBe("buf.validate.field");
    expect(ourOption.typeName).toBe(known?.typeName);
    expect(ourOption.number).toBe(known?.number);
    expect(ourOption.extendee.typeName).toBe(known?.extendee.typeName);
    expect(ourOption.message?.typeName).toBe(known?.message?.typeName);
  });

  test("and so have the file's name, package and syntax", () => {
    expect(ours.proto.name).toBe(theirs.proto.name);
    expect(ours.proto.package).toBe(theirs.proto.package);
    expect(ours.edition).toBe(theirs.edition);
  });
});
