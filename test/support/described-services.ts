import { readdirSync } from "node:fs";
import { getOption, type DescMethod, type DescService } from "@bufbuild/protobuf";
import { http } from "../../gen/google/api/annotations_pb.js";

const GENERATED = new URL("../../gen/shipments/", import.meta.url);

/**
 * Every service of ours that the proto files of a package describe, whether or not a test knows of
 * it: those of workspaces unless told otherwise, or those of operators.
 */
export async function describedServices(folder: "v1" | "admin/v1" = "v1"): Promise<DescService[]> {
  const generated = new URL(`${folder}/`, GENERATED);
  const files = readdirSync(generated).filter((name) => name.endsWith("_pb.js"));
  const modules = await Promise.all(
    files.map((name) => import(new URL(name, generated).href) as Promise<Record<string, unknown>>),
  );
  return modules.flatMap((module) => Object.values(module).filter(isService));
}

function isService(exported: unknown): exported is DescService {
  return (exported as { kind?: string } | null)?.kind === "service";
}

/** One way to call a method by JSON, for given fields. */
export interface HttpCall {
  readonly method: string;
  readonly path: string;
  readonly body: object | undefined;
}

/** Every way to call a method by JSON with the given fields, as its descriptor says. */
export function httpCalls(method: DescMethod, fields: Readonly<Record<string, any>>): HttpCall[] {
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
    const query = new URLSearchParams(
      Object.entries(rest).map(([name, value]) => [name, String(value)]),
    ).toString();
    return [{ method: httpMethod, path: query ? `${path}?${query}` : path, body: undefined }];
  });
}
