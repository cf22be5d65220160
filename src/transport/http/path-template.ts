/**
 * A segment of a path: a literal, or a variable that binds one segment to a request field by its
 * wire name.
 */
export type Segment =
  | { readonly kind: "literal"; readonly text: string }
  | { readonly kind: "variable"; readonly field: string };

const LITERAL = /^[A-Za-z0-9\-._~]+$/;
const VARIABLE = /^\{([a-z_][a-z0-9_]*)\}$/;

/**
 * Compiles the path of a `google.api.http` rule into its segments. Of that grammar this gateway
 * serves
 *
 *     Template = "/" Segment { "/" Segment } ;
 *     Segment  = LITERAL | "{" field "}" ;
 *
 * @throws Error that names the template and the segment for anything else (`*`, `**`, nested field
 * paths, custom verbs): a mistake in the proto files, found at start-up.
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
