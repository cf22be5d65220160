import { descriptionElement } from "./description.ts";
import type { Component, SwaggerSystem } from "./swagger-ui.ts";

/** Gives a component of swagger-ui; with `true`, one that knows the state. */
type GetComponent = (name: string, isContainer?: boolean) => Component;

/** The name of the layout that the plugin adds. */
export const LAYOUT = "ReferenceLayout";

/**
 * Fits swagger-ui into a page that has its own title, introduction and landmarks, on the server that the
 * page comes from: the authorization, the operations and the webhooks are left. Descriptions are shown
 * without HTML as text, which the policy forbids; an operation's path, which stands in a button, is no
 * link; and what has no name, or not the one it shows, is named for readers of a screen.
 */
export function referencePlugin({ React: { createElement } }: SwaggerSystem): object {
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
  const Markdown = ({ source }: { readonly source?: string }) =>
    source ? descriptionElement(source, createElement) : null;
  const DeepLink = ({ text }: { readonly text: unknown }) => createElement("span", null, text);
  const namedTextArea = (TextArea: Component) => (properties: object) =>
    createElement(TextArea, { ...properties, "aria-label": "Request body" });
  const namedCloseIcon = (CloseIcon: Component) => () =>
    createElement(
      "span",
      null,
      createElement("span", { className: "visually-hidden" }, "Close"),
      createElement(CloseIcon, null),
    );
  const plainlyNamedButton = (Button: Component) => (properties: { readonly children: unknown }) =>
    createElement(Button, { ...properties, "aria-label": undefined });
  return {
    components: { [LAYOUT]: Layout },
    wrapComponents: {
      Markdown: () => Markdown,
      DeepLink: () => DeepLink,
      Button: plainlyNamedButton,
      TextArea: namedTextArea,
      CloseIcon: namedCloseIcon,
    },
  };
}
