import { readdirSync } from "node:fs";
import { getOption, hasOption, type DescMethod, type DescService } from "@bufbuild/protobuf";
import { http } from "../../gen/google/api/annotations_pb.js";
import type { Audience } from "../../src/pipeline/call.ts";

/** Folder of the generated code for each audience's services. */
const GENERATED: Readonly<Record<Audience, URL>> = {
  workspace: new URL("../../gen/shipments/v1/", import.meta.url),
  operator: new URL("../../gen/shipments/admin/v1/", import.meta.url),
  person: new URL("../../gen/shipments/account/v1/", import.meta.url),
};

/** Returns every service in the proto files of an audience. */
async function describedServices(audience: Audience): Promise<DescService[]> {
  const folder = GENERATED[audience];
  const files = readdirSync(folder).filter((name) => name.endsWith("_pb.js"));
  const modules = await Promise.all(
    files.map((name) => import(new URL(name, folder).href) as Promise<Record<string, unknown>>),
  );
  return modules.flatMap((module) => Object.values(module).filter(isService));
}

/** Returns every method in the proto files of an audience. */
export async function describedMethods(audience: Audience): Promise<DescMethod[]> {
  return (await describedServices(audience)).flatMap(({ methods }) => methods);
}

function isService(exported: unknown): exported is DescService {
  return (exported as { kind?: string } | null)?.kind === "service";
}

/** An HTTP request that calls a method. */
export interface HttpCall {
  readonly method: string;
  readonly path: string;
  readonly body: any;
}

/** Returns the names of the fields in a method's path. */
export function pathFields(method: DescMethod): string[] {
  const path = hasOption(method, http) ? getOption(method, http).pattern.value : "";
  return [...path!.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
}

/** Returns one HTTP request for each path of a method. Empty if the method has no path. */
export function httpCalls(method: DescMethod, fields: Readonly<Record<string, any>>): HttpCall[] {
  if (!hasOption(method, http)) return [];
  const rule = getOption(method, http);
  return [rule, ...rule.additionalBindings].flatMap(({ pattern, body }): HttpCall[] => {
    const rest = { ...fields };
    let bound = true;
    const path = String(pattern.value).replace(/\{(\w+)\}/g, (_, name: string) => {
      bound &&= name in rest;
      const value = encodeURIComponent(String(rest[name]));
      delete rest[name];
      return value;
    });
    // The path needs a field that is missing from `fields`.
    if (!bound) return [];
    const httpMethod = pattern.case!.toUpperCase();
    if (body === "*") return [{ method: httpMethod, path, body: rest }];
    if (body !== "") {
      const { [body]: content, ...others } = rest;
      return [{ method: httpMethod, path: withQuery(path, others), body: content }];
    }
    return [{ method: httpMethod, path: withQuery(path, rest), body: undefined }];
  });
}

function withQuery(path: string, fields: Readonly<Record<string, unknown>>): string {
  const values = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .flatMap(([name, value]) => [value].flat().map((item) => [name, String(item)]));
  const query = new URLSearchParams(values).toString();
  return query === "" ? path : `${path}?${query}`;
}
