import { PAGE_ENTRIES, type PageName, type PAGES } from "./pages.ts";

/** Type of a pattern's parameters: `/w/:workspace/shipments/:reference` has two. */
type Parameters<P extends string> = P extends `${string}:${infer Name}/${infer Rest}`
  ? Record<Name, string> & Parameters<`/${Rest}`>
  : P extends `${string}:${infer Name}`
    ? Record<Name, string>
    : unknown;

type Given<T> = { readonly [Name in keyof T]: string | bigint };

/**
 * Parameters that a link requires. The workspace defaults to the page's. After an asynchronous
 * call, pass it explicitly, because the user may have switched workspaces.
 */
type ParametersIn<P extends string> = P extends `/w/:workspace${infer Rest}`
  ? Partial<Given<{ workspace: string }>> & Given<Parameters<Rest>>
  : Given<Parameters<P>>;

type Query = Readonly<Record<string, string | undefined>>;

/** Builder for a page's URL. Call it with parameters and a query to get a link's `href`. */
export interface Path<P extends string> {
  (
    ...given: object extends ParametersIn<P>
      ? [parameters?: ParametersIn<P>, query?: Query]
      : [parameters: ParametersIn<P>, query?: Query]
  ): string;
  /** Returns the parameters in a path, or `undefined` if the path belongs to another page. */
  match(pathname: string): Parameters<P> | undefined;
}

function path<const P extends string>(pattern: P): Path<P> {
  const segments = pattern.split("/");
  const build = (parameters: object = {}, query: Query = {}) => {
    const values = parameters as Readonly<Record<string, string | bigint>>;
    const filled = segments.map((segment) => {
      if (!segment.startsWith(":")) return segment;
      const name = segment.slice(1);
      const value = values[name] ?? (name === "workspace" && workspaceIn(pathnameNow()));
      return encodeURIComponent(String(value));
    });
    return withQuery(filled.join("/"), query);
  };
  return Object.assign(build, {
    match: (pathname: string) => match(segments, pathname) as Parameters<P> | undefined,
  });
}

function pathnameNow(): string {
  return (globalThis as { readonly location?: { readonly pathname: string } }).location!.pathname;
}

/** Returns the workspace ID in a path, or `undefined` if absent. */
export function workspaceIn(pathname: string): string | undefined {
  return /^\/w\/(\d+)(?=\/|$)/.exec(pathname)?.[1];
}

function match(segments: readonly string[], pathname: string): object | undefined {
  const parts = pathname.split("/");
  if (parts.length !== segments.length) return undefined;
  const parameters: Record<string, string> = {};
  for (const [i, segment] of segments.entries()) {
    const text = parts[i]!;
    if (!segment.startsWith(":")) {
      if (segment !== text) return undefined;
    } else if (text === "") return undefined;
    else parameters[segment.slice(1)] = decode(text);
  }
  return parameters;
}

/** Decodes a path segment. Returns invalid percent-encoding unchanged. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function withQuery(pathname: string, query: object): string {
  const entries = Object.entries(query).filter(([, value]) => value !== undefined && value !== "");
  const text = new URLSearchParams(entries as [string, string][]).toString();
  return text === "" ? pathname : `${pathname}?${text}`;
}

export type ParametersOf<Name extends PageName> = Parameters<(typeof PAGES)[Name]["path"]>;

export const paths = {
  home: path("/"),
  signIn: path("/sign-in"),
  /** Landing pages for customers who return from the payment page. */
  paid: path("/paid"),
  notPaid: path("/not-paid"),
  ...(Object.fromEntries(PAGE_ENTRIES.map(([name, entry]) => [name, path(entry.path)])) as {
    readonly [Name in PageName]: Path<(typeof PAGES)[Name]["path"]>;
  }),
};

/** Value of the query parameter `courier` of the shipments list for shipments without a courier. */
export const UNASSIGNED = "unassigned";

export type SettingsPart = "workspace" | "members" | "payments" | "tracking" | "couriers" | "limits";

/** Returns the URL of a settings section. Defaults to the page's workspace. */
export function settingsHref(part: SettingsPart, query?: Query, workspace?: bigint): string {
  return `${paths.settings(workspace === undefined ? {} : { workspace }, query)}#${part}`;
}

/**
 * Returns the new URL for a moved page or a path with a trailing slash, or `undefined` if the URL
 * is current. Existing links and Stripe may still use old URLs.
 */
export function movedHref(pathname: string, search: string): string | undefined {
  const [, page] = /^(\/(?:w|platform)\b.*?)\/+$/.exec(pathname) ?? [];
  if (page !== undefined) return page + search;
  const [, settings, part] = /^(\/w\/\d+\/settings)\/(members|payments|workspace)$/.exec(pathname) ?? [];
  return settings && `${settings}${search}#${part}`;
}

export function labelsHref(shipments: readonly { readonly reference: string }[]): string {
  const query = shipments.map(({ reference }) => `shipment=${encodeURIComponent(reference)}`);
  return `${paths.labels()}?${query.join("&")}`;
}
