import { create, createFileRegistry, type DescMessage, type MessageInitShape } from "@bufbuild/protobuf";
import {
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  file_google_protobuf_timestamp,
  FileDescriptorProtoSchema,
  type FieldDescriptorProtoSchema,
} from "@bufbuild/protobuf/wkt";

type FieldInit = MessageInitShape<typeof FieldDescriptorProtoSchema>;

/** Creates a descriptor of the message `shapes.<name>` with one field of every kind in the dialect. */
export function describeEveryKind(): DescMessage {
  return declare([
    field("number", 1, Type.DOUBLE),
    { ...field("maybe", 2, Type.DOUBLE), proto3Optional: true, oneofIndex: 1 },
    field("text", 3, Type.STRING),
    field("flag", 4, Type.BOOL),
    field("blob", 5, Type.BYTES),
    field("small", 6, Type.INT32),
    field("small_count", 7, Type.UINT32),
    field("large", 8, Type.INT64),
    field("large_count", 9, Type.UINT64),
    { ...field("color", 10, Type.ENUM), typeName: ".shapes.Color" },
    repeated(field("texts", 11, Type.STRING)),
    repeated({ ...field("colors", 12, Type.ENUM), typeName: ".shapes.Color" }),
    repeated({ ...field("points", 13, Type.MESSAGE), typeName: ".shapes.Point" }),
    { ...field("point", 14, Type.MESSAGE), typeName: ".shapes.Point" },
    { ...field("at", 15, Type.MESSAGE), typeName: ".google.protobuf.Timestamp" },
    repeated({ ...field("counts", 16, Type.MESSAGE), typeName: ".shapes.Shape.CountsEntry" }),
    { ...field("word", 17, Type.STRING), oneofIndex: 0 },
    { ...field("figure", 18, Type.INT32), oneofIndex: 0 },
  ]);
}

/** Creates a descriptor of the message `shapes.Shape` with the given fields. */
export function describeFields(...fields: FieldInit[]): DescMessage {
  return declare(fields);
}

/** Describes a singular field. */
export function field(name: string, number: number, type: Type): FieldInit {
  return { name, number, type, label: Label.OPTIONAL };
}

function repeated(init: FieldInit): FieldInit {
  return { ...init, label: Label.REPEATED };
}

function declare(fields: FieldInit[]): DescMessage {
  const usesOneofs = fields.some((it) => it.oneofIndex !== undefined);
  const file = create(FileDescriptorProtoSchema, {
    name: "shapes.proto",
    package: "shapes",
    syntax: "proto3",
    dependency: ["google/protobuf/timestamp.proto"],
    enumType: [
      {
        name: "Color",
        value: ["COLOR_UNSPECIFIED", "COLOR_RED", "COLOR_DARK_BLUE"].map((name, number) => ({
          name,
          number,
        })),
      },
    ],
    messageType: [
      {
        name: "Point",
        field: [
          { ...field("lat", 1, Type.DOUBLE), proto3Optional: true, oneofIndex: 1 },
          { ...field("east", 2, Type.STRING), oneofIndex: 0 },
          { ...field("west", 3, Type.STRING), oneofIndex: 0 },
        ],
        oneofDecl: [{ name: "side" }, { name: "_lat" }],
      },
      {
        name: "Shape",
        field: fields,
        oneofDecl: usesOneofs ? [{ name: "choice" }, { name: "_maybe" }] : [],
        nestedType: [
          {
            name: "CountsEntry",
            field: [field("key", 1, Type.STRING), field("value", 2, Type.INT32)],
            options: { mapEntry: true },
          },
        ],
      },
    ],
  });
  const registry = createFileRegistry(file, () => file_google_protobuf_timestamp.proto);
  return registry.getMessage("shapes.Shape") as DescMessage;
}
