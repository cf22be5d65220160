import { MAX_CHARACTERS, nearestName } from "../../domain/nearest-name.ts";
import type { Route } from "./routes.ts";

/**
 * Builds what finds the path that one which leads nowhere may be meant for: with other slashes around it, in
 * another case, without the `v1`, or with a typing error. It knows no more than the API's description, which
 * everybody can read.
 */
export function createNearestPath(routes: readonly Route[]): (path: string) => string | undefined {
  const templates = [...new Map(routes.map((it) => [it.template, it.segments])).values()];
  const nearest = (given: readonly string[]) =>
    nearestName(
      pathOf(given),
      templates.filter(({ length }) => length === given.length).map((it) => fill(it, given)),
    );
  return (path) => {
    if (path.length > MAX_CHARACTERS) return undefined;
    const parts = path.split("/");
    const given = parts.slice(parts.findIndex(Boolean), parts.findLastIndex(Boolean) + 1);
    if (given.includes("")) return undefined;
    return nearest(given) ?? nearest(["v1", ...given]) ?? nearest(given.toSpliced(1, 0, "v1"));
  };
}

/** A template with the values that a path has for its variables. */
function fill(segments: Route["segments"], given: readonly string[]): string {
  return pathOf(segments.map((it, i) => (it.kind === "literal" ? it.text : given[i]!)));
}

function pathOf(segments: readonly string[]): string {
  return `/${segments.join("/")}`;
}
