import "./api.css";
import { withBearersOnly, type ApiDocument } from "./api-document.ts";
import { LAYOUT, createReferencePlugin } from "./plugin.ts";
import type { SwaggerUi } from "./swagger-ui.ts";

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

/** Tags of what workspaces call come first and are open, those of operators and people are closed. */
function showApi(api: ApiDocument): void {
  const tags = tagsOfWorkspaces(api);
  const places = [...tags, ...api.tags.map(({ name }) => name).filter((it) => !tags.has(it))];
  const ui = SwaggerUIBundle({
    spec: withBearersOnly(api),
    dom_id: "#swagger-ui",
    layout: LAYOUT,
    plugins: [createReferencePlugin(tags)],
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
  return new Set(["ShipmentService", ...tags]);
}
