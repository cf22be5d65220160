import { ScalarType, type DescEnum, type DescField, type DescMessage, type Registry } from "@bufbuild/protobuf";
import type { HttpRule } from "../../gen/google/api/http_pb.js";
import { enumNames } from "../json/decode-scalar.ts";
import { dataDescription, descriptionOf, isRequired, rulesOf, type Json, type Options } from "./options.ts";
import { ruleKeywords } from "./rule-keywords.ts";

type Form = "request" | "response";

export interface Schemas {
  field(field: DescField, form: Form): Json;
  isRequired(field: DescField): boolean;
  /**
   * Returns a reference to a message's schema. Requests contain only the fields for which `isInBody` returns true.
   */
  message(message: DescMessage, form: Form, isInBody?: (field: DescField) => boolean): Json;
  readonly components: Record<string, Json>;
}

const isAny = () => true;

const TIMESTAMP = "google.protobuf.Timestamp";

/** Creates the schemas of the JSON dialect that `src/json` decodes and encodes. */
export function createSchemas(options: Options, registry: Registry): Schemas {
  const components: Record<string, Json> = {};
  const forms = new Map<string, Form>();

  function element(desc: DescField, form: Form): Json {
    if (desc.message !== undefined) return message(desc.message, form);
    return desc.enum === undefined ? scalarSchema(desc.scalar!) : enumRef(desc.enum);
  }

  function enumRef(desc: DescEnum): Json {
    const name = componentName(desc.typeName);
    components[name] ??= enumSchema(desc);
    return { $ref: `#/components/schemas/${name}` };
  }

  function field(desc: DescField, form: Form): Json {
    const rules = rulesOf(desc, options, registry);
    const keywords: Record<string, unknown> = rules === undefined ? {} : { ...ruleKeywords(rules) };
    if (form === "request" && isUpdate(desc.parent, options)) delete keywords["format"];
    const schema = withKeywords(typed(desc, element(desc, form)), keywords);
    // Text with listed values cannot be blank.
    const isText = desc.scalar === ScalarType.STRING && !("enum" in schema);
    const nonBlank = isText && isRequired(rules) ? { minLength: 1 } : {};
    const isNullable = form === "response" && mayBeUnset(desc) && !isRequired(rules);
    const whole = isNullable ? orNull(schema) : schema;
    return { ...whole, ...nonBlank, ...dataDescription(desc), ...descriptionOf(desc) };
  }

  function message(desc: DescMessage, form: Form, isInBody: (field: DescField) => boolean = isAny): Json {
    if (desc.typeName === TIMESTAMP) return { type: "string", format: "date-time" };
    const name = componentName(desc.typeName);
    const fields = desc.fields.filter(isInBody);
    const known = components[name]?.["properties"] as Json | undefined;
    if ((forms.get(name) ?? form) !== form) throw new Error(`${name} is both a request and a response`);
    if (known !== undefined && Object.keys(known).length !== fields.length) {
      throw new Error(`${name} has other fields where another path binds them`);
    }
    if (!forms.has(name)) {
      forms.set(name, form);
      const isNeeded = (it: DescField) =>
        form === "response" || (isRequired(rulesOf(it, options, registry)) && !hasPlaceholder(it, options));
      const required = fields.filter(isNeeded).map((it) => it.name);
      components[name] = {
        type: "object",
        ...descriptionOf(desc),
        ...(required.length === 0 ? {} : { required }),
        properties: Object.fromEntries(fields.map((it) => [it.name, field(it, form)])),
      };
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  return {
    field,
    isRequired: (it) => isRequired(rulesOf(it, options, registry)),
    message,
    components,
  };
}

function hasPlaceholder(field: DescField, options: Options): boolean {
  return options(field, "shipments.v1.required_unless") !== undefined;
}

/**
 * Whether a message is the request of an update. Its fields can be blank to clear them, and blank text
 * does not match a format.
 */
function isUpdate(desc: DescMessage, options: Options): boolean {
  return desc.file.services
    .flatMap(({ methods }) => methods)
    .filter(({ input }) => input === desc)
    .some((it) => options<HttpRule>(it, "google.api.http")?.pattern.case === "patch");
}

/**
 * Returns a component name: `admin.GetWorkspaceResponse` for `shipments.admin.v1.GetWorkspaceResponse`,
 * and `admin.Workspace` for `shipments.admin.v1.AdminWorkspace`.
 */
function componentName(typeName: string): string {
  const name = typeName.replace(/^shipments\./, "").replace(/(^|\.)v1\./, "$1");
  return name.replace(/^(\w+)\.(\w+?)(?=[A-Z])/, (whole, pack: string, first: string) =>
    first.toLowerCase() === pack ? `${pack}.` : whole,
  );
}

/**
 * Whether a field's type allows a response without the field. A rule can still require the field. The
 * `data` of a response is always present.
 */
function mayBeUnset(field: DescField): boolean {
  if (field.fieldKind !== "message") return field.proto.proto3Optional;
  return field.name !== "data" || !field.parent.name.endsWith("Response");
}

function orNull(schema: Json): Json {
  if ("$ref" in schema) return { anyOf: [schema, { type: "null" }] };
  return { ...schema, type: [schema["type"], "null"] };
}

function typed(field: DescField, element: Json): Json {
  if (field.fieldKind === "list") return { type: "array", items: element };
  if (field.fieldKind === "map") return { type: "object", additionalProperties: element };
  return element;
}

function withKeywords(schema: Json, keywords: Json): Json {
  const merged: Record<string, unknown> = { ...schema, ...keywords };
  for (const part of ["items", "additionalProperties"]) {
    if (part in schema) merged[part] = { ...(schema[part] as Json), ...(keywords[part] as Json) };
  }
  return merged;
}

function scalarSchema(scalar: ScalarType): Json {
  switch (scalar) {
    case ScalarType.BOOL:
      return { type: "boolean" };
    case ScalarType.BYTES:
      return { type: "string", contentEncoding: "base64" };
    case ScalarType.DOUBLE:
      return { type: "number", format: "double" };
    case ScalarType.INT32:
      return { type: "integer", format: "int32" };
    case ScalarType.INT64:
      return { type: "integer", format: "int64" };
    case ScalarType.STRING:
      return { type: "string" };
    default:
      throw new Error(`the scalar type ${ScalarType[scalar]} has no form in the OpenAPI document`);
  }
}

function enumSchema(desc: DescEnum): Json {
  const names = enumNames(desc);
  const { description } = descriptionOf(desc);
  const lines = desc.values.flatMap((value) => {
    const { description: text } = descriptionOf(value);
    return text === undefined || value.number === 0 ? [] : [`- \`${names.get(value.number)}\`: ${text}`];
  });
  const text = [description, lines.join("\n")].filter(Boolean).join("\n\n");
  return {
    type: "string",
    enum: [...names.values()],
    ...(text === "" ? {} : { description: text }),
  };
}
