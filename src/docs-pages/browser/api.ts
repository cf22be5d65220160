import "./api.css";
import { descriptionElement, type CreateElement } from "./description.ts";

/** What swagger-ui's own script, which the page loads before this one, leaves behind; as far as it is used. */
interface SwaggerUi {
  readonly layoutActions: { show(place: readonly string[], isShown: boolean): void };
}

/** What plugins of swagger-ui are given, as far as it is used. */
interface SwaggerSystem {
  readonly React: { readonly createElement: CreateElement };
}

declare const SwaggerUIBundle: (options: Readonly<Record<string, unknown>>) => SwaggerUi;

interface ApiDocument {
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly tags: readonly string[] }>>>
  >;
}

const DOCUMENT = "/openapi.json";

const api = (await (await fetch(DOCUMENT)).json()) as ApiDocument;
followTheme();
showApi(api);

/** swagger-ui has its dark colours by a class. */
function followTheme(): void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
  dark.addEventListener("change", apply);
  apply();
}

/** Tags of what workspaces call come first and are open, those of operators and people are closed. */
function showApi(document: ApiDocument): void {
  const tags = tagsOfWorkspaces(document);
  const places = [...tags, ...document.tags.map(({ name }) => name).filter((it) => !tags.has(it))];
  const ui = SwaggerUIBundle({
    spec: document,
    dom_id: "#swagger-ui",
    deepLinking: true,
    docExpansion: "none",
    tagsSorter: (a: string, b: string) => places.indexOf(a) - places.indexOf(b),
    defaultModelsExpandDepth: 0,
    persistAuthorization: false,
    // Its default asks another host.
    validatorUrl: null,
    plugins: [showDescriptions],
    onComplete() {
      for (const tag of tags) ui.layoutActions.show(["operations-tag", tag], true);
    },
  });
}

function tagsOfWorkspaces({ paths }: ApiDocument): Set<string> {
  const workspaces = Object.entries(paths).filter(([path]) => path.startsWith("/v1/"));
  const tags = workspaces.flatMap(([, methods]) => Object.values(methods).flatMap((it) => it.tags));
  return new Set(["ShipmentService", ...tags]);
}

/** Puts our way to show descriptions in the place of swagger-ui's. */
function showDescriptions({ React }: SwaggerSystem): object {
  const Markdown = ({ source }: { readonly source?: string }) =>
    source ? descriptionElement(source, React.createElement) : null;
  return { wrapComponents: { Markdown: () => Markdown } };
}
