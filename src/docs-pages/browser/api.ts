import "./api.css";
import { LAYOUT, createReferencePlugin } from "./plugin.ts";

/** The used part of swagger-ui's system object. */
interface SwaggerUi {
  readonly layoutActions: {
    /** Opens the target of an address, such as `#/ShipmentService/quoteShipment`. */
    parseDeepLinkHash(hash: string): void;
  };
}

/** The used part of the OpenAPI document. */
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

/** Defined by swagger-ui's own script, which the page loads first. */
declare const SwaggerUIBundle: (options: Readonly<Record<string, unknown>>) => SwaggerUi;

const DOCUMENT = "/openapi.json";

followTheme();
const response = await fetch(DOCUMENT);
// Otherwise the prebuilt list of operations stays.
if (response.ok) showApi((await response.json()) as ApiDocument);

/** swagger-ui selects dark colors by a class. */
function followTheme(): void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
  dark.addEventListener("change", apply);
  apply();
}

/** Tags for workspaces are open, those for operators and people are closed. */
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
    // Its colors have too little contrast.
    syntaxHighlight: { activated: false },
    persistAuthorization: false,
    // The default contacts another host.
    validatorUrl: null,
  });
  // swagger-ui reads the address only at startup, and scrolls only on first display.
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
 * Returns the document with bearer keys as the only security scheme. The other header is redundant,
 * and the browser sends the session cookie. Workspace keys are last, because the last field gets
 * the focus. Calls go to the page's own origin, as its policy requires.
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
