import { type DescMethod, getOption, hasOption } from "@bufbuild/protobuf";
import { http } from "../../../gen/google/api/annotations_pb.js";
import { withoutSecrets } from "../../domain/without-secrets.ts";
import type { ReceivedCall } from "../../pipeline/call.ts";

const MAX_LENGTH = 200;

/** Cache of path templates, because reading a template decodes the method's options. */
const templates = new WeakMap<DescMethod, string | undefined>();

/** Returns a path template such as `POST /v1/shipments/{shipment}/cancel`. `undefined` if the method has no path. */
export function pathTemplateOf(method: DescMethod): string | undefined {
  if (!templates.has(method)) templates.set(method, readTemplate(method));
  return templates.get(method);
}

function readTemplate(method: DescMethod): string | undefined {
  if (!hasOption(method, http)) return undefined;
  const { case: verb, value } = getOption(method, http).pattern;
  return typeof value === "string" ? `${verb!.toUpperCase()} ${value}` : undefined;
}

/**
 * Returns the path of a request over any transport, such as `POST /v1/shipments/SHP-8Q4RB7K2M9TX/cancel`. Removes
 * possible secrets. `undefined` if the method has no path or the path has no parameters.
 */
export function pathOf({ method, request }: NonNullable<ReceivedCall["decoded"]>): string | undefined {
  const template = pathTemplateOf(method);
  if (!template?.includes("{")) return undefined;
  const path = template.replaceAll(/\{(\w+)\}/g, (parameter, name: string) => {
    const { localName = "" } = method.input.fields.find((field) => field.name === name) ?? {};
    const value = (request as unknown as Readonly<Record<string, string | bigint>>)[localName];
    return String(value ?? "") || parameter;
  });
  return storableText(path, MAX_LENGTH);
}

/** Removes secrets, replaces characters that PostgreSQL cannot store, and truncates the text. */
export function storableText(text: string, maxLength: number): string {
  return withoutSecrets(text).replaceAll("\0", "\uFFFD").slice(0, maxLength).toWellFormed();
}
