import type { Section } from "./render-guide.ts";
import { API_PAGE } from "./places.ts";

/** The part of an OpenAPI document that is read here. */
export interface ApiDocument {
  readonly info: { readonly description: string };
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
}

interface DescribedOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary?: string;
  readonly description?: string;
}

/** One operation of the JSON API. */
export interface Operation {
  /** Upper case. */
  readonly method: string;
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  /** Where the reference shows it. */
  readonly href: string;
}

/** The operations of the document, in its order. */
export function operationsOf({ paths }: ApiDocument): Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => operation(method, path, described)),
  );
}

function operation(method: string, path: string, described: DescribedOperation): Operation {
  const { operationId, tags, summary = "", description = summary } = described;
  const tag = tags[0] ?? "";
  return {
    method: method.toUpperCase(),
    path,
    tag,
    summary,
    description,
    href: `${API_PAGE}#/${tag}/${operationId}`,
  };
}

/** An operation as it is searched. */
export function sectionOfOperation({ href, method, path, description }: Operation): Section {
  return { href, heading: `${method} ${path}`, text: description };
}
