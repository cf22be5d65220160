/** The part of the OpenAPI document that is read here. */
export interface ApiDocument {
  readonly tags: readonly { readonly name: string }[];
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly securitySchemes: Readonly<Record<string, { readonly type: string }>>;
  };
}

interface Operation {
  readonly tags: readonly string[];
  readonly security?: readonly Readonly<Record<string, unknown>>[];
}

/**
 * The document with the one way to put in a key that swagger-ui needs. Another header for the same key
 * would only be asked for as well, and the cookie of a session is the browser's. Workspaces' keys come
 * last, because the field of the last has the focus. Calls go to where the page came from: its policy
 * allows no other place.
 */
export function withBearersOnly(api: ApiDocument): ApiDocument {
  const { securitySchemes } = api.components;
  const isBearer = (name: string) => securitySchemes[name]?.type === "http";
  const paths = mapValues(api.paths, (operations) =>
    mapValues(operations, (operation) => ({
      ...operation,
      security: (operation.security ?? []).filter((it) => Object.keys(it).every(isBearer)),
    })),
  );
  const bearers = Object.entries(securitySchemes).filter(([name]) => isBearer(name));
  const sorted = bearers.toSorted(([a], [b]) => (a < b ? -1 : 1));
  return {
    ...api,
    servers: [{ url: "/" }],
    paths,
    components: { ...api.components, securitySchemes: Object.fromEntries(sorted) },
  };
}

function mapValues<A, B>(record: Readonly<Record<string, A>>, change: (value: A) => B) {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));
}
