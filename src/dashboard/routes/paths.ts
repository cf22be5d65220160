/** The parameters of a pattern: `/w/:workspace/shipments/:reference` has two. */
type Parameters<P extends string> = P extends `${string}:${infer Name}/${infer Rest}`
  ? Record<Name, string> & Parameters<`/${Rest}`>
  : P extends `${string}:${infer Name}`
    ? Record<Name, string>
    : unknown;

/** The text of a parameter, or an id as messages hold it. */
type Given<T> = { readonly [Name in keyof T]: string | bigint };

/** The address of one page. Call it with its parameters, and with a query, to get a link's `href`. */
export interface Path<T> {
  (parameters: Given<T>, query?: Readonly<Record<string, string | undefined>>): string;
  /** The parameters in a path; undefined when it is another page's. */
  match(pathname: string): T | undefined;
}

function path<const P extends string>(pattern: P): Path<Parameters<P>> {
  const segments = pattern.split("/");
  const build = (parameters: Given<Parameters<P>>, query: object = {}) => {
    const values = parameters as Readonly<Record<string, string | bigint>>;
    const filled = segments.map((segment) =>
      segment.startsWith(":") ? encodeURIComponent(String(values[segment.slice(1)])) : segment,
    );
    return withQuery(filled.join("/"), query);
  };
  return Object.assign(build, {
    match: (pathname: string) => match(segments, pathname) as Parameters<P> | undefined,
  });
}

function match(segments: readonly string[], pathname: string): object | undefined {
  const given = pathname.split("/");
  if (given.length !== segments.length) return undefined;
  const parameters: Record<string, string> = {};
  for (const [i, segment] of segments.entries()) {
    const text = given[i]!;
    if (!segment.startsWith(":")) {
      if (segment !== text) return undefined;
    } else if (text === "") return undefined;
    else parameters[segment.slice(1)] = decode(text);
  }
  return parameters;
}

/** As it is when it is not valid percent-encoding. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** An address with those values of a query that are given and not empty. */
export function withQuery(pathname: string, query: object): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  const text = new URLSearchParams(given as [string, string][]).toString();
  return text === "" ? pathname : `${pathname}?${text}`;
}

/** The addresses of all pages. */
export const paths = {
  home: path("/"),
  signIn: path("/sign-in"),
  account: path("/account"),
  overview: path("/w/:workspace"),
  shipments: path("/w/:workspace/shipments"),
  shipment: path("/w/:workspace/shipments/:reference"),
  book: path("/w/:workspace/book"),
  customers: path("/w/:workspace/customers"),
  customer: path("/w/:workspace/customers/:customer"),
  apiKeys: path("/w/:workspace/settings/api"),
  webhooks: path("/w/:workspace/settings/webhooks"),
  webhook: path("/w/:workspace/settings/webhooks/:webhook"),
  members: path("/w/:workspace/settings/members"),
  payments: path("/w/:workspace/settings/payments"),
  workspace: path("/w/:workspace/settings/workspace"),
  platform: path("/platform"),
  tariff: path("/platform/tariff"),
  tariffVersion: path("/platform/tariff/versions/:version"),
  tariffComparison: path("/platform/tariff/comparison"),
  tariffDrafts: path("/platform/drafts"),
  tariffDraft: path("/platform/drafts/:draft"),
  platformWorkspaces: path("/platform/workspaces"),
  platformWorkspace: path("/platform/workspaces/:workspace"),
  operators: path("/platform/operators"),
  operator: path("/platform/operators/:operator"),
  auditLog: path("/platform/audit"),
  health: path("/platform/health"),
} as const;
