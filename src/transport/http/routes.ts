import { getOption, hasOption, ScalarType, type DescField } from "@bufbuild/protobuf";
import { http } from "../../../gen/google/api/annotations_pb.js";
import type { HttpRule } from "../../../gen/google/api/http_pb.js";
import { success_status } from "../../../gen/shipments/v1/options_pb.js";
import { MAX_CHARACTERS, nearestName } from "../../domain/nearest-name.ts";
import { fileFieldOf } from "../../pipeline/file-field.ts";
import { isStream, type Rpc, type StreamRpc } from "../../pipeline/rpc.ts";

/**
 * Body of a request: JSON with the fields that the path does not bind, no body, or the raw value of one
 * field. Without a JSON body, the query contains the remaining fields.
 */
type RouteBody = "json" | "none" | DescField;

/** An HTTP binding of an RPC, declared in the RPC's descriptor. */
export interface Route {
  readonly rpc: Rpc | StreamRpc;
  /** HTTP method in upper case. */
  readonly httpMethod: string;
  /** Path template of the rule, such as `/v1/shipments/{shipment}`. */
  readonly template: string;
  readonly segments: readonly Segment[];
  readonly body: RouteBody;
  readonly successStatus: number;
}

/**
 * Reads the routes from the RPCs' `google.api.http` options.
 *
 * @throws Error for unsupported rules: a malformed path, a body other than "*", a bytes field or
 *   none, or a stream that is not a file
 */
export function readRoutes(rpcs: readonly (Rpc | StreamRpc)[]): Route[] {
  return rpcs.flatMap((rpc) => {
    if (!hasOption(rpc.method, http)) return [];
    if (isStream(rpc) && fileFieldOf(rpc.method.output) === undefined) {
      throw new Error(`${rpc.name} has an http rule, but its stream is not a file`);
    }
    const rule = getOption(rpc.method, http);
    const successStatus = hasOption(rpc.method, success_status) ? getOption(rpc.method, success_status) : 200;
    return [rule, ...rule.additionalBindings].map((it) => ({
      rpc,
      ...readPattern(rpc, it),
      successStatus,
    }));
  });
}

function readPattern(rpc: Route["rpc"], rule: HttpRule) {
  const { case: kind, value } = rule.pattern;
  if (kind === undefined) throw new Error(`${rpc.name} has an http rule without a path`);
  const segments = parsePathTemplate(value);
  const body = readRouteBody(rpc, rule.body);
  return { httpMethod: kind.toUpperCase(), template: value, segments, body };
}

function readRouteBody({ name, method }: Route["rpc"], body: string): RouteBody {
  if (body === "") return "none";
  if (body === "*") return "json";
  const field = method.input.fields.find((it) => it.name === body);
  if (field?.fieldKind === "scalar" && field.scalar === ScalarType.BYTES && !field.oneof) {
    return field;
  }
  throw new Error(`${name} has an http rule with the body ${body}; use "*", a field of bytes, or none`);
}

/** Result of a lookup. A miss distinguishes a wrong path from a wrong method. */
type Match<T> =
  | { readonly kind: "found"; readonly route: T; readonly pathSegments: readonly string[] }
  | { readonly kind: "method-not-allowed"; readonly allow: string }
  | { readonly kind: "no-such-path" };

/**
 * Finds the route of a request. `path` has no query and is still percent-encoded. HEAD matches the
 * route of GET (RFC 9110, section 9.3.2).
 */
export type MatchRoute<T> = (httpMethod: string, path: string) => Match<T>;

/** A node of the lookup tree. Each level is one segment. */
interface Node<T> {
  readonly literals: Map<string, Node<T>>;
  variable: Node<T> | undefined;
  readonly byMethod: Map<string, T>;
}

/**
 * Compiles routes for lookup. A literal segment takes precedence over a variable, even if its route does not have the
 * method, so that a reserved word is never taken for a reference.
 *
 * @throws Error if two routes have the same method and path
 */
export function compileRoutes<T extends Route>(routes: readonly T[]): MatchRoute<T> {
  const root = emptyNode<T>();
  for (const route of routes) addRoute(root, route);
  const literal = new Map(routes.filter(isLiteral).map((route) => [route.template, route]));
  return (requestMethod, path) => {
    const httpMethod = requestMethod === "HEAD" ? "GET" : requestMethod;
    // Most calls have a path without variables, which needs no tree lookup.
    const literalRoute = literal.get(path);
    if (literalRoute?.httpMethod === httpMethod) return { kind: "found", route: literalRoute, pathSegments: [] };
    const pathSegments = path.slice(1).split("/");
    const node = pathSegments.includes("") ? undefined : nodeAt(root, pathSegments);
    if (node === undefined) return { kind: "no-such-path" };
    const route = node.byMethod.get(httpMethod);
    if (route !== undefined) return { kind: "found", route, pathSegments };
    return { kind: "method-not-allowed", allow: allowed([...node.byMethod.keys()]) };
  };
}

/** Returns the value of the `Allow` header for a path with these methods. */
function allowed(httpMethods: readonly string[]): string {
  const all = httpMethods.includes("GET") ? [...httpMethods, "HEAD"] : httpMethods;
  return all.toSorted().join(", ");
}

function isLiteral({ segments }: Route): boolean {
  return segments.every((segment) => segment.kind === "literal");
}

/** Returns the node of a path if the node has routes. Prefers literal segments. */
function nodeAt<T>(node: Node<T>, pathSegments: readonly string[], at = 0): Node<T> | undefined {
  const segment = pathSegments[at];
  if (segment === undefined) return node.byMethod.size > 0 ? node : undefined;
  const literal = node.literals.get(segment);
  return (
    (literal && nodeAt(literal, pathSegments, at + 1)) ?? (node.variable && nodeAt(node.variable, pathSegments, at + 1))
  );
}

function addRoute<T extends Route>(root: Node<T>, route: T): void {
  let node = root;
  for (const segment of route.segments) {
    if (segment.kind === "variable") node = node.variable ??= emptyNode();
    else node = literalChild(node, segment.text);
  }
  const other = node.byMethod.get(route.httpMethod);
  if (other !== undefined) {
    throw new Error(`${route.rpc.name} and ${other.rpc.name} claim the same method and path`);
  }
  node.byMethod.set(route.httpMethod, route);
}

function literalChild<T>(node: Node<T>, text: string): Node<T> {
  let child = node.literals.get(text);
  if (child === undefined) {
    child = emptyNode<T>();
    node.literals.set(text, child);
  }
  return child;
}

function emptyNode<T>(): Node<T> {
  return { literals: new Map(), variable: undefined, byMethod: new Map() };
}

/** A path segment: a literal, or a variable that binds a request field by wire name. */
export type Segment =
  | { readonly kind: "literal"; readonly text: string }
  | { readonly kind: "variable"; readonly field: string };

const LITERAL = /^[A-Za-z0-9\-._~]+$/;
const VARIABLE = /^\{([a-z_][a-z0-9_]*)\}$/;

/**
 * Parses the path of a `google.api.http` rule into segments. The supported grammar is:
 *
 * Template = "/" Segment { "/" Segment } ; Segment = LITERAL | "{" field "}" ;
 *
 * @throws Error with the template and segment for other syntax (`*`, `**`, nested field paths, custom verbs)
 */
export function parsePathTemplate(template: string): readonly Segment[] {
  if (!template.startsWith("/")) {
    throw new Error(`the path template ${template} does not start with a slash`);
  }
  const segments = template
    .slice(1)
    .split("/")
    .map((text) => parseSegment(text, template));
  const fields = segments.flatMap((it) => (it.kind === "variable" ? [it.field] : []));
  if (new Set(fields).size !== fields.length) {
    throw new Error(`the path template ${template} binds a field twice`);
  }
  return segments;
}

function parseSegment(text: string, template: string): Segment {
  if (LITERAL.test(text)) return { kind: "literal", text };
  const field = VARIABLE.exec(text)?.[1];
  if (field !== undefined) return { kind: "variable", field };
  throw new Error(
    `the path template ${template} has the segment ${JSON.stringify(text)}, which is neither a literal nor {field}`,
  );
}

/**
 * Creates a search for the known path that an unknown path was probably meant to be. Paths can differ in
 * slashes, letter case, a missing `v1`, the file extension, or by a typo. The search contains only public paths.
 *
 * @param documents paths of public documents
 */
export function createNearestPath(
  routes: readonly Route[],
  documents: () => readonly string[] = () => [],
): (path: string) => string | undefined {
  const templates = [...new Map(routes.map((it) => [it.template, it.segments])).values()];
  const literals = new Set(routes.filter(isLiteral).map(({ template }) => template));
  const literalAt = (path: string) => (literals.has(path) ? path : undefined);
  const nearest = (candidates: readonly string[]) =>
    nearestName(
      pathOf(candidates),
      templates.filter(({ length }) => length === candidates.length).map((it) => fill(it, candidates)),
    );
  return (path) => {
    if (path.length > MAX_CHARACTERS) return undefined;
    const parts = path.split("/");
    const values = parts.slice(parts.findIndex(Boolean), parts.findLastIndex(Boolean) + 1);
    // An empty segment may be an extra slash or a missing reference, so only literal paths are suggested.
    if (values.includes("")) return literalAt(pathOf(values.filter((it) => it !== "")));
    const ofApi = nearest(values) ?? nearest(["v1", ...values]) ?? nearest(values.toSpliced(1, 0, "v1"));
    return ofApi ?? nearestDocument(path, documents());
  };
}

function nearestDocument(path: string, documents: readonly string[]): string | undefined {
  const nearest = nearestName(path, documents);
  return nearest ?? documents.find((it) => withoutExtension(it) === withoutExtension(path));
}

function withoutExtension(path: string): string {
  return path.replace(/\.\w+$/, "");
}

/** Fills the variables of a template with the segments of a path. */
function fill(segments: Route["segments"], values: readonly string[]): string {
  return pathOf(segments.map((it, i) => (it.kind === "literal" ? it.text : values[i]!)));
}

function pathOf(segments: readonly string[]): string {
  return `/${segments.join("/")}`;
}
