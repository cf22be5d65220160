import { readdirSync } from "node:fs";
import { getOption, hasOption, type DescMethod, type DescService } from "@bufbuild/protobuf";
import { http } from "../../gen/google/api/annotations_pb.js";
import type { Audience } from "../../src/pipeline/call.ts";

/** Where the code of each audience's services is generated. */
const GENERATED: Readonly<Record<Audience, URL>> = {
  workspace: new URL("../../gen/shipments/v1/", import.meta.url),
  operator: new URL("../../gen/shipments/admin/v1/", import.meta.url),
  person: new URL("../../gen/shipments/account/v1/", import.meta.url),
};

/** Every service that the proto files describe for an audience, whether or not a test knows of it. */
export async function describedServices(audience: Audience): Promise<DescService[]> {
  const folder = GENERATED[audience];
  const files = readdirSync(folder).filter((name) => name.endsWith("_pb.js"));
  const modules = await Promise.all(
    files.map((name) => import(new URL(name, folder).href) as Promise<Record<string, unknown>>),
  );
  return modules.flatMap((module) => Object.values(module).filter(isService));
}

/** Every method that the proto files describe for an audience. */
export async function describedMethods(audience: Audience): Promise<DescMethod[]> {
  return (await describedServices(audience)).flatMap(({ methods }) => methods);
}

function isService(exported: unknown): exported is DescService {
  return (exported as { kind?: string } | null)?.kind === "service";
}

/** One way to call a method by JSON, for given fields. */
export interface HttpCall {
  readonly method: string;
  readonly path: string;
  readonly body: any;
}

/** Every way to call a method by JSON with the given fields, as its descriptor says; none where it has no path. */
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
    // A path that names what this call does not give leads elsewhere.
    if (!bound) return [];
    const httpMethod = pattern.case!.toUpperCase();
    if (body === "*") return [{ method: httpMethod, path, body: rest }];
    if (body !== "") {
      const { [body]: given, ...others } = rest;
      return [{ method: httpMethod, path: withQuery(path, others), body: given }];
    }
    return [{ method: httpMethod, path: withQuery(path, rest), body: undefined }];
  });
}

function withQuery(path: string, fields: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .flatMap(([name, value]) => [value].flat().map((item) => [name, String(item)]));
  const query = new URLSearchParams(given).toString();
  return query === "" ? path : `${path}?${query}`;
}
