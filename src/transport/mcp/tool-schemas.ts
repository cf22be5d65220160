import type { Tool } from "@modelcontextprotocol/server";
import {
  nameOf,
  selfContained,
  type JsonSchema,
  type SchemasByName,
} from "./self-contained-schema.ts";

/** The part of the OpenAPI document that tools are made of. */
export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Message>> };
}

interface Message extends JsonSchema {
  readonly properties: SchemasByName;
  readonly required?: readonly string[];
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly (Parameter | { readonly $ref: string })[];
  readonly requestBody?: Body;
  readonly responses: Readonly<Record<string, Body>>;
}

interface Body {
  readonly content: { readonly "application/json": { readonly schema: { readonly $ref: string } } };
}

interface Parameter {
  readonly name: string;
  readonly required: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
}

const IDEMPOTENCY_KEY = {
  type: "string",
  pattern: "^[\\x21-\\x7e]{1,255}$",
  description:
    "Names the call: for 24 hours a call with the same key does nothing again and gets the same result. When not given, the same arguments to book or to cancel are the same call; to book the same once more, give another key.",
};

/**
 * What a tool takes, as one object: path, query and body together.
 *
 * @param size the field that says how much to answer, and what it is when not given
 * @param hasKey whether it takes an idempotency key
 */
export function inputSchemaOf(
  { parameters, requestBody }: Operation,
  api: ApiDocument,
  { size, hasKey }: { size?: readonly [string, number] | undefined; hasKey: boolean },
): Tool["inputSchema"] {
  const own = parameters.filter((it): it is Parameter => "name" in it);
  const body = requestBody === undefined ? undefined : messageOf(requestBody, api);
  const properties: Record<string, JsonSchema> = {
    ...Object.fromEntries(
      own.map(({ name, description, schema }) => [name, { ...schema, description }]),
    ),
    ...body?.properties,
    ...(hasKey ? { idempotency_key: IDEMPOTENCY_KEY } : {}),
  };
  if (size !== undefined) {
    const [name, count] = size;
    const description = `${properties[name]!["description"] as string} By this tool, ${count}.`;
    properties[name] = { ...properties[name], description, default: count };
  }
  const needed = own.filter(({ required }) => required).map(({ name }) => name);
  const required = [...needed, ...(body?.required ?? [])];
  const schema = { properties, required, additionalProperties: false };
  return { type: "object", ...selfContained(schema, api.components.schemas, { forResult: false }) };
}

/** What a tool's result is. Fields that are unset are left out, so none is required but the notice. */
export function outputSchemaOf(
  { responses }: Operation,
  api: ApiDocument,
): NonNullable<Tool["outputSchema"]> {
  const [, response] = Object.entries(responses).find(([status]) => status.startsWith("2"))!;
  const message = messageOf(response, api);
  const schema = { ...message, properties: { notice: { type: "string" }, ...message.properties } };
  const result = selfContained(schema, api.components.schemas, { forResult: true });
  return { ...result, type: "object", required: ["notice"] };
}

function messageOf({ content }: Body, { components }: ApiDocument): Message {
  return components.schemas[nameOf(content["application/json"].schema.$ref)]!;
}
