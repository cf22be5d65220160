import { resolveSubtree } from "./resolve-subtree.ts";

type Component = (properties: never) => unknown;

/** Creates an element, as in React. */
type CreateElement = (
  type: string | Component,
  properties: Readonly<Record<string, unknown>> | null,
  ...children: unknown[]
) => unknown;

/** Part of the system object, which swagger-ui passes to plugins, that this plugin uses. */
interface SwaggerSystem {
  readonly React: { readonly createElement: CreateElement };
}

/** Returns a component of swagger-ui. With `true`, the component is connected to the state. */
type GetComponent = (name: string, isContainer?: boolean) => Component;

export const LAYOUT = "ReferenceLayout";

/**
 * Creates the plugin that embeds swagger-ui in a page with its own title, introduction and landmarks.
 * Keeps swagger-ui's authorization, operations and webhooks.
 *
 * @param openTags tags whose operations are initially open
 */
export function createReferencePlugin(openTags: ReadonlySet<string>) {
  return ({ React: { createElement } }: SwaggerSystem): object => {
    const Layout = ({ getComponent }: { readonly getComponent: GetComponent }) =>
      createElement(
        "div",
        { className: "swagger-ui" },
        createElement(getComponent("SvgAssets"), null),
        createElement(getComponent("errors", true), null),
        createElement("h2", { className: "reference-heading" }, "Operations"),
        createElement(getComponent("AuthorizeBtnContainer", true), null),
        createElement(getComponent("operations", true), null),
        createElement(getComponent("Webhooks", true), null),
      );
    return {
      fn: { resolveSubtree },
      components: { [LAYOUT]: Layout },
      wrapComponents: wrappedComponents(createElement),
      statePlugins: {
        layout: {
          // swagger-ui's scrolling would place the target under the top bar.
          actions: { scrollToElement: (element: Element) => () => element.scrollIntoView() },
          wrapSelectors: { isShown: (isShown: IsShown) => withOpenTags(isShown, openTags) },
        },
      },
    };
  };
}

/** Whether a tag or operation is open. Returns `byDefault` until the reader toggles it. */
type IsShown = (key: readonly string[], byDefault: boolean) => boolean;

/**
 * Wraps `isShown` so that the given tags are open by default. A wrapped selector already contains the
 * state, so it is called without the state.
 */
function withOpenTags(isShown: IsShown, openTags: ReadonlySet<string>) {
  return (_state: unknown, key: readonly string[], byDefault: boolean): boolean => {
    const [kind, tag = ""] = key;
    return isShown(key, byDefault || (kind === "operations-tag" && openTags.has(tag)));
  };
}

/** Props of the component that shows examples and responses. */
interface PlainText {
  readonly className?: string;
  readonly children?: unknown;
}

/**
 * Wraps components of swagger-ui:
 * - Descriptions are rendered without HTML, which the page's policy forbids.
 * - Paths inside buttons are not links.
 * - Long examples can be scrolled by keyboard.
 * - Elements without a proper accessible name get one.
 */
function wrappedComponents(createElement: CreateElement): object {
  const Markdown = ({ source }: { readonly source?: string }) =>
    source ? descriptionElement(source, createElement) : null;
  const DeepLink = ({ text }: { readonly text: unknown }) => createElement("span", null, text);
  const PlainTextViewer = ({ className = "", children }: PlainText) =>
    createElement(
      "pre",
      {
        className: `microlight ${className}`.trim(),
        tabIndex: 0,
        role: "group",
        "aria-label": "Code",
      },
      children,
    );
  return {
    Markdown: () => Markdown,
    DeepLink: () => DeepLink,
    PlainTextViewer: () => PlainTextViewer,
    Button: (Button: Component) => (properties: object) =>
      createElement(Button, { ...properties, "aria-label": undefined }),
    TextArea: (TextArea: Component) => (properties: object) =>
      createElement(TextArea, { ...properties, "aria-label": "Request body" }),
    ExamplesSelect: (ExamplesSelect: Component) => (properties: Readonly<Record<string, unknown>>) =>
      createElement(
        "label",
        null,
        createElement("span", { className: "visually-hidden" }, "Example"),
        createElement(ExamplesSelect, properties),
      ),
    CloseIcon: (CloseIcon: Component) => () =>
      createElement(
        "span",
        null,
        createElement("span", { className: "visually-hidden" }, "Close"),
        createElement(CloseIcon, null),
      ),
  };
}

/**
 * Renders the Markdown that the document uses: paragraphs, lists and code. swagger-ui would use HTML,
 * which the page's policy forbids.
 */
function descriptionElement(source: string, createElement: CreateElement): unknown {
  const blocks = source.trim().split(/\n{2,}/);
  return createElement("div", { className: "markdown" }, ...blocks.map(block));

  function block(text: string): unknown {
    if (!text.startsWith("- ")) return createElement("p", null, ...inline(text));
    const items = text.slice(2).split(/\n- /);
    return createElement("ul", null, ...items.map((it) => createElement("li", null, ...inline(it))));
  }

  /** Renders inline code. Splitting at a capturing group returns the matches at odd indexes. */
  function inline(text: string): unknown[] {
    return text.split(/`([^`]+)`/).map((piece, at) => (at % 2 === 1 ? createElement("code", null, piece) : piece));
  }
}
