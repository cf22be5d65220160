import type { DescField, DescMethod } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import type { HttpRule } from "../../gen/google/api/http_pb.js";
import { audienceOf } from "../pipeline/common-reasons.ts";
import { FILE_TYPES, fileFieldOf } from "../pipeline/file-field.ts";
import type { Audience } from "../pipeline/call.ts";
import { headers, type PARAMETERS, type SECURITY_SCHEMES } from "./components.ts";
import { dataDescription, descriptionOf, type Json, type Options } from "./options.ts";
import { requestExample } from "./request-examples.ts";
import type { BodyKind } from "./refused-call.ts";
import type { Refusals } from "./refusals.ts";
import type { Schemas } from "./schemas.ts";

export interface Operation {
  readonly path: string;
  /** HTTP method in lower case. */
  readonly httpMethod: string;
  readonly operation: Json & { readonly operationId: string };
}

interface Parts {
  readonly schemas: Schemas;
  readonly refusals: Refusals;
  readonly options: Options;
}

export function operationsOf(method: DescMethod, deps: Parts): Operation[] {
  const { options } = deps;
  const rule = options<HttpRule>(method, "google.api.http");
  if (rule === undefined) return [];
  return [rule, ...rule.additionalBindings].map((it, i) => {
    const path = it.pattern.value as string;
    const bound = boundFields(path);
    const operationId = idOf(method) + (i === 0 ? "" : `By${bound.map(pascal).join("And")}`);
    const operation = { operationId, ...describe(method, it, bound, operationId, deps) };
    return { path, httpMethod: it.pattern.case!, operation };
  });
}

function describe(
  method: DescMethod,
  { body }: HttpRule,
  bound: readonly string[],
  operationId: string,
  { schemas, refusals, options }: Parts,
): Json {
  const { input } = method;
  const { description = "" } = descriptionOf(method);
  const isReadOnly = method.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
  const isDocument = method.methodKind === "unary" && fileFieldOf(method.output) !== undefined;
  const audience = audienceOf(method);
  const takesJson = body === "*" && input.fields.length > bound.length;
  const isRepeatable = !isReadOnly && audience !== "person";
  const parameter = (field: DescField) => ({
    name: field.name,
    in: bound.includes(field.name) ? "path" : "query",
    required: bound.includes(field.name) || schemas.isRequired(field),
    ...parameterParts(field, schemas),
  });
  const isParameter = (it: DescField) => bound.includes(it.name) || (body !== "*" && it.name !== body);
  return {
    tags: [method.parent.name],
    summary: summaryOf(method),
    description,
    security: SECURITY[audience].map((name) => ({ [name]: [] })),
    parameters: [
      ...input.fields.filter(isParameter).map(parameter),
      ...parameterRefs("X-Request-Id", "Connect-Timeout-Ms"),
      ...(isRepeatable ? parameterRefs("Idempotency-Key") : []),
      ...(audience === "workspace" ? parameterRefs("Simulate") : []),
      ...(takesJson ? parameterRefs("Prefer") : []),
      ...(isDocument ? parameterRefs("If-None-Match") : []),
    ],
    ...requestBody(method, body, bound, schemas),
    responses: {
      [options<number>(method, "shipments.v1.success_status") ?? 200]: successResponse(method, schemas, [
        ...(isRepeatable ? ["Idempotency-Replayed"] : []),
        ...(audience === "workspace" ? ["Simulated"] : []),
        ...(takesJson ? ["Ignored-Fields", "Preference-Applied"] : []),
      ]),
      ...(isDocument ? { 304: notModified(audience) } : {}),
      ...refusals.of(method, operationId, {
        readOnly: isReadOnly,
        body: BODY_KINDS[body] ?? "document",
        fields: input.fields.filter((it) => !bound.includes(it.name) && it.name !== body),
        pathFields: input.fields.filter((it) => bound.includes(it.name)),
        isRequired: schemas.isRequired,
      }),
    },
  };
}

/** Kind of body by the HTTP rule's `body`. Other values name the field that contains a document. */
const BODY_KINDS: Readonly<Record<string, BodyKind>> = { "": "none", "*": "json" };

const SECURITY: Readonly<Record<Audience, readonly (keyof typeof SECURITY_SCHEMES)[]>> = {
  workspace: ["workspaceBearer", "workspaceKey"],
  operator: ["operatorBearer", "operatorKey"],
  person: ["session"],
};

/** Returns the first clause of a method's comment, without backticks because summaries are plain text. */
function summaryOf(method: DescMethod): string {
  const { description = "" } = descriptionOf(method);
  const clause = /^.*?[^.](?=[.:;]( |$))/.exec(description)?.[0] ?? description;
  return clause.replaceAll("`", "");
}

function idOf({ localName, parent }: DescMethod): string {
  return parent.file.proto.package === "shipments.admin.v1" ? `admin${pascal(localName)}` : localName;
}

function boundFields(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
}

function pascal(name: string): string {
  return name.replace(/(^|_)([a-z])/g, (_, _before, letter: string) => letter.toUpperCase());
}

/** Returns the schema and description of a parameter. OpenAPI puts the description outside the schema. */
function parameterParts(field: DescField, schemas: Schemas): Json {
  const { description, ...schema } = schemas.field(field, "request");
  return { ...(description === undefined ? {} : { description }), schema };
}

function parameterRefs(...names: readonly (keyof typeof PARAMETERS)[]): Json[] {
  return names.map((it) => ({ $ref: `#/components/parameters/${it}` }));
}

function requestBody({ input }: DescMethod, body: string, bound: readonly string[], schemas: Schemas): Json {
  if (body === "") return {};
  if (body !== "*") {
    const field = input.fields.find((it) => it.name === body)!;
    return {
      requestBody: { content: { "application/geo+json": { schema: descriptionOf(field) } } },
    };
  }
  const isInBody = (it: DescField) => !bound.includes(it.name);
  const fields = input.fields.filter(isInBody);
  if (fields.length === 0) return {};
  const schema = schemas.message(input, "request", isInBody);
  const required = fields.some(schemas.isRequired);
  const example = requestExample(input, fields, schemas);
  return { requestBody: { required, content: { "application/json": { schema, example } } } };
}

function successResponse(method: DescMethod, schemas: Schemas, more: readonly string[]): Json {
  const common = ["X-Request-Id", "RateLimit-Policy", "RateLimit"];
  const file = fileFieldOf(method.output);
  if (file !== undefined) {
    const isStream = method.methodKind === "server_streaming";
    return {
      description: isStream ? "The file." : "The document.",
      headers: headers(...common, ...more, ...(isStream ? [] : ["ETag", "Cache-Control"])),
      content: {
        [FILE_TYPES[file.name]!]: {
          schema: isStream ? { type: "string", ...descriptionOf(file) } : documentSchema(file),
        },
      },
    };
  }
  return {
    description: successOf(method),
    headers: headers(...common, ...more),
    content: { "application/json": { schema: schemas.message(method.output, "response") } },
  };
}

/** Returns the description of a response: the comment on the message or on the type of its `data`. */
function successOf({ output }: DescMethod): string {
  const { description } = descriptionOf(output);
  if (description !== undefined) return description;
  if (output.fields.length === 0) return "Success. The response is empty.";
  return dataDescription(output.field["data"]).description ?? "The answer.";
}

/**
 * Returns the schema of a document. The service generates only the coverage document. Other documents
 * are returned as uploaded.
 */
function documentSchema(field: DescField): Json {
  return field.parent.name === "GetCoverageResponse" ? { $ref: "#/components/schemas/Coverage" } : descriptionOf(field);
}

function notModified(audience: Audience): Json {
  const simulated = audience === "workspace" ? ["Simulated"] : [];
  return {
    description: "The caller's copy is up to date.",
    headers: headers("X-Request-Id", "RateLimit-Policy", "RateLimit", ...simulated, "ETag", "Cache-Control"),
  };
}
