import type { Tool } from "@modelcontextprotocol/server";
import type { Paging } from "./result-pages.ts";
import { nameOf, outline, selfContained, type JsonSchema, type SchemasByName } from "./self-contained-schema.ts";

/** Part of the OpenAPI document from which tools are derived. */
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
    "Repeating a call with the same key within 24 hours returns the stored response. If not set, bookings or cancellations with the same arguments have the same key.",
};

const PAGE_TOKEN = {
  type: "string",
  description: "The next_page_token of the previous page. Repeat the other arguments.",
};

/**
 * Returns the arguments of a tool as one object, with the fields of path, query and body.
 *
 * @param size the field that limits a list, and its default for agents
 * @param hasKey whether the tool accepts an idempotency key
 */
export function inputSchemaOf(
  { parameters, requestBody }: Operation,
  api: ApiDocument,
  options: {
    readonly size?: readonly [string, number] | undefined;
    readonly paging: Paging | undefined;
    readonly hasKey: boolean;
  },
): Tool["inputSchema"] {
  const { size, paging, hasKey } = options;
  const own = parameters.filter((it): it is Parameter => "name" in it);
  const body = requestBody === undefined ? undefined : messageOf(requestBody, api);
  const properties: Record<string, JsonSchema> = {
    ...Object.fromEntries(own.map(({ name, description, schema }) => [name, { ...schema, description }])),
    ...body?.properties,
    ...(isPagedByTool(paging) ? { page_token: PAGE_TOKEN } : {}),
    ...(hasKey ? { idempotency_key: IDEMPOTENCY_KEY } : {}),
  };
  if (size !== undefined) {
    const [name, count] = size;
    const description = `${properties[name]!["description"] as string} In this tool, ${count}.`;
    properties[name] = { ...properties[name], description, default: count };
  }
  const needed = own.filter(({ required }) => required).map(({ name }) => name);
  const required = [...needed, ...(body?.required ?? [])];
  const schema = { properties, required, additionalProperties: false };
  return { type: "object", ...selfContained(schema, api.components.schemas) };
}

/**
 * Returns the schema of a tool's result, with the types of its direct fields. Nested messages, such as the shipment
 * that most tools return, are named but not described. Only `notice` is required, because unset fields are omitted.
 */
export function outputSchemaOf(
  { responses }: Operation,
  api: ApiDocument,
  paging: Paging | undefined,
): NonNullable<Tool["outputSchema"]> {
  const [, response] = Object.entries(responses).find(([status]) => status.startsWith("2"))!;
  const fields = Object.entries(messageOf(response, api).properties).map(
    ([name, schema]) => [name, outline(schema, api.components.schemas)] as const,
  );
  const text = { type: "string" };
  const properties = {
    notice: text,
    ...Object.fromEntries(fields),
    ...(isPagedByTool(paging) ? { next_page_token: text } : {}),
  };
  return { type: "object", properties, required: ["notice"] };
}

function isPagedByTool(paging: Paging | undefined): boolean {
  return paging !== undefined && "lists" in paging;
}

function messageOf({ content }: Body, { components }: ApiDocument): Message {
  return components.schemas[nameOf(content["application/json"].schema.$ref)]!;
}
