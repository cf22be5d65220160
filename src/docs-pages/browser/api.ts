import "./api.css";
import { LAYOUT, createReferencePlugin } from "./plugin.ts";

/** Part of swagger-ui's system object that this page uses. */
interface SwaggerUi {
  readonly layoutActions: {
    /** Opens the target of a URL fragment, such as `#/ShipmentService/quoteShipment`. */
    parseDeepLinkHash(hash: string): void;
  };
}

/** Part of the OpenAPI document that this page uses. */
interface ApiDocument {
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

/** swagger-ui's own script, which the page loads first, defines this global. */
declare const SwaggerUIBundle: (options: Readonly<Record<string, unknown>>) => SwaggerUi;

const DOCUMENT = "/openapi.json";

followTheme();
const response = await fetch(DOCUMENT);
// If the request fails, the prebuilt list of operations stays.
if (response.ok) showApi((await response.json()) as ApiDocument);

/** Switches swagger-ui between light and dark colors, which it selects by a class. */
function followTheme(): void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
  dark.addEventListener("change", apply);
  apply();
}

/** Shows the API. Tags for workspaces are initially open, tags for operators and people are closed. */
function showApi(api: ApiDocument): void {
  const order = api.tags.map(({ name }) => name);
  const ui = SwaggerUIBundle({
    spec: withBearersOnly(api),
    dom_id: "#swagger-ui",
    layout: LAYOUT,
    plugins: [createReferencePlugin(tagsOfWorkspaces(api))],
    deepLinking: true,
    docExpansion: "none",
    tagsSorter: (a: string, b: string) => order.indexOf(a) - order.indexOf(b),
    // The highlighted colors have too little contrast.
    syntaxHighlight: { activated: false },
    persistAuthorization: false,
    // Without `Sec-Fetch-Site`, as on plain HTTP, the service recognizes a GET of its own page by the referrer.
    requestInterceptor: (request: object) => ({ ...request, referrerPolicy: "same-origin" }),
    // The default validator contacts another host.
    validatorUrl: null,
  });
  // swagger-ui reads the URL fragment only at startup, and scrolls only when it is first displayed.
  addEventListener("hashchange", () => {
    ui.layoutActions.parseDeepLinkHash(location.hash);
    const id = `operations${location.hash.slice(1).replaceAll("/", "-")}`;
    requestAnimationFrame(() => document.getElementById(id)?.scrollIntoView());
  });
}

function tagsOfWorkspaces({ paths }: ApiDocument): Set<string> {
  const workspaces = Object.entries(paths).filter(([path]) => path.startsWith("/v1/"));
  const tags = workspaces.flatMap(([, methods]) => Object.values(methods).flatMap((it) => it.tags));
  return new Set(tags);
}

/**
 * Returns the document with bearer keys as the only security scheme. The other key header is redundant,
 * and the browser sends the session cookie. Workspace keys come last, because the last field gets the
 * focus. Calls go to the page's own origin, as the page's policy requires.
 */
function withBearersOnly(api: ApiDocument): ApiDocument {
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
