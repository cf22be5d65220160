/** A component of React. */
export type Component = (properties: never) => unknown;

/** Makes an element as React does. */
export type CreateElement = (
  type: string | Component,
  properties: Readonly<Record<string, unknown>> | null,
  ...children: unknown[]
) => unknown;

/** What plugins of swagger-ui are given, as far as it is used. */
export interface SwaggerSystem {
  readonly React: { readonly createElement: CreateElement };
}

/** What swagger-ui leaves behind when it has started, as far as it is used. */
export interface SwaggerUi {
  readonly layoutActions: {
    /** Opens what an address leads to, such as `#/ShipmentService/quoteShipment`. */
    parseDeepLinkHash(hash: string): void;
  };
}
