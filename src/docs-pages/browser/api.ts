import "./api.css";
import { LAYOUT, createReferencePlugin } from "./plugin.ts";

/** What swagger-ui leaves behind when it has started, as far as it is used. */
interface SwaggerUi {
  readonly layoutActions: {
    /** Opens what an address leads to, such as `#/ShipmentService/quoteShipment`. */
    parseDeepLinkHash(hash: string): void;
  };
}

/** The part of the OpenAPI document that is read here. */
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

/** Of swagger-ui's own script, which the page loads before this one. */
declare const SwaggerUIBundle: (options: Readonly<Record<string, unknown>>) => SwaggerUi;

const DOCUMENT = "/openapi.json";

followTheme();
const response = await fetch(DOCUMENT);
// Otherwise the list of operations stays that the page was built with.
if (response.ok) showApi((await response.json()) as ApiDocument);

/** swagger-ui has its dark colours by a class. */
function followTheme(): void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
  dark.addEventListener("change", apply);
  apply();
}

/** Tags of what workspaces call are open, those of operators and people are closed. */
function showApi(api: ApiDocument): void {
  const places = api.tags.map(({ name }) => name);
  const ui = SwaggerUIBundle({
    spec: withBearersOnly(api),
    dom_id: "#swagger-ui",
    layout: LAYOUT,
    plugins: [createReferencePlugin(tagsOfWorkspaces(api))],
    deepLinking: true,
    docExpansion: "none",
    tagsSorter: (a: string, b: string) => places.indexOf(a) - places.indexOf(b),
    // Its colours have too little contrast.
    syntaxHighlight: { activated: false },
    persistAuthorization: false,
    // Its default asks another host.
    validatorUrl: null,
  });
  // It follows the address only when it starts, and scrolls only to what it shows for the first time.
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
 * The document with the one way to put in a key that swagger-ui needs. Another header for the same key
 * would only be asked for as well, and the cookie of a session is the browser's. Workspaces' keys come
 * last, because the field of the last has the focus. Calls go to where the page came from: its policy
 * allows no other place.
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
