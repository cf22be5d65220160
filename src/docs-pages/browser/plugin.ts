type Component = (properties: never) => unknown;

/** Makes an element as React does. */
type CreateElement = (
  type: string | Component,
  properties: Readonly<Record<string, unknown>> | null,
  ...children: unknown[]
) => unknown;

/** What plugins of swagger-ui are given, as far as it is used. */
interface SwaggerSystem {
  readonly React: { readonly createElement: CreateElement };
}

/** Gives a component of swagger-ui; with `true`, one that knows the state. */
type GetComponent = (name: string, isContainer?: boolean) => Component;

/** The name of the layout that the plugin adds. */
export const LAYOUT = "ReferenceLayout";

/**
 * Fits swagger-ui into a page that has its own title, introduction and landmarks, on the server that the
 * page comes from: the authorization, the operations and the webhooks are left.
 *
 * @param openTags the tags whose operations are shown from the beginning
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
      components: { [LAYOUT]: Layout },
      wrapComponents: wrappedComponents(createElement),
      statePlugins: {
        layout: {
          // Its own scrolling would put what it leads to below the bar.
          actions: { scrollToElement: (element: Element) => () => element.scrollIntoView() },
          wrapSelectors: { isShown: (isShown: IsShown) => withOpenTags(isShown, openTags) },
        },
      },
    };
  };
}

/** Whether a tag or an operation is open; `byDefault` until somebody opens or closes it. */
type IsShown = (place: readonly string[], byDefault: boolean) => boolean;

/** A selector is given the state first, and has it already when it is wrapped. */
function withOpenTags(isShown: IsShown, openTags: ReadonlySet<string>) {
  return (_state: unknown, place: readonly string[], byDefault: boolean): boolean => {
    const [kind, tag = ""] = place;
    return isShown(place, byDefault || (kind === "operations-tag" && openTags.has(tag)));
  };
}

/** What swagger-ui shows examples and answers with. */
interface PlainText {
  readonly className?: string;
  readonly children?: unknown;
}

/**
 * Descriptions are shown without HTML as text, which the policy of the page forbids; an operation's
 * path, which stands in a button, is no link; examples, which scroll when they are long, are reached by
 * the keyboard; and what has no name, or not the one it shows, is named for readers of a screen.
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
    ExamplesSelect:
      (ExamplesSelect: Component) => (properties: Readonly<Record<string, unknown>>) =>
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
 * Shows a description of the API's document: paragraphs, lists and code, which is all the Markdown there
 * is in it. swagger-ui itself would set it as HTML, which the policy of the page forbids.
 */
function descriptionElement(source: string, createElement: CreateElement): unknown {
  const blocks = source.trim().split(/\n{2,}/);
  return createElement("div", { className: "markdown" }, ...blocks.map(block));

  function block(text: string): unknown {
    if (!text.startsWith("- ")) return createElement("p", null, ...inline(text));
    const items = text.slice(2).split(/\n- /);
    return createElement(
      "ul",
      null,
      ...items.map((it) => createElement("li", null, ...inline(it))),
    );
  }

  /** Of what is split by a group, every other piece is the group's. */
  function inline(text: string): unknown[] {
    return text
      .split(/`([^`]+)`/)
      .map((piece, at) => (at % 2 === 1 ? createElement("code", null, piece) : piece));
  }
}
