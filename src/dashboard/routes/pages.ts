/** A page's definition. Its component is `XPage` in `x.page.tsx`, in the feature's folder. */
interface PageEntry {
  /** URL pattern, whose parameters are the component's props. */
  readonly path: string;
  /** Name of the file, if several pages share one. */
  readonly file?: string;
  /** Label in the navigation and search, which omit pages without a label. */
  readonly label?: string;
  /** Key that opens the page after `g`, by default the first letter of the label. */
  readonly key?: string;
  /** Heading above the page in a workspace's navigation. */
  readonly section?: "Developers";
  /** Whether the page exists only in test mode. */
  readonly isTest?: boolean;
}

/** Label of the navigation entry that shows the number of items that need attention. */
export const ATTENTION = "Needs attention";

/** All pages that require signing in, by name and in menu order. */
export const PAGES = {
  account: { path: "/account" },
  overview: { path: "/w/:workspace", label: "Overview" },
  attention: { path: "/w/:workspace/attention", label: ATTENTION },
  shipments: { path: "/w/:workspace/shipments", label: "Shipments" },
  // Listed before `shipment`, whose pattern would match these names as references.
  labels: { path: "/w/:workspace/shipments/labels", file: "print" },
  manifest: { path: "/w/:workspace/shipments/manifest", file: "print" },
  shipment: { path: "/w/:workspace/shipments/:reference" },
  editShipment: { path: "/w/:workspace/shipments/:reference/edit" },
  receipt: { path: "/w/:workspace/shipments/:reference/receipt", file: "print" },
  book: { path: "/w/:workspace/book", label: "Quote and book" },
  customers: { path: "/w/:workspace/customers", label: "Customers" },
  customer: { path: "/w/:workspace/customers/:customer" },
  couriers: { path: "/w/:workspace/couriers", label: "Couriers", key: "u" },
  courier: { path: "/w/:workspace/couriers/:courier" },
  settings: { path: "/w/:workspace/settings", label: "Settings", key: "," },
  apiKeys: { path: "/w/:workspace/settings/api", label: "API", section: "Developers" },
  requests: { path: "/w/:workspace/settings/requests", label: "Requests", section: "Developers" },
  events: { path: "/w/:workspace/settings/events", label: "Events", section: "Developers" },
  event: { path: "/w/:workspace/settings/events/:event", file: "events" },
  webhooks: { path: "/w/:workspace/settings/webhooks", label: "Webhooks", section: "Developers" },
  webhook: { path: "/w/:workspace/settings/webhooks/:webhook", file: "webhooks" },
  testMode: { path: "/w/:workspace/test", label: "Test mode", section: "Developers", isTest: true },
  platform: { path: "/platform", label: "Overview" },
  platformAttention: { path: "/platform/attention", label: ATTENTION },
  tariff: { path: "/platform/tariff", label: "Tariff" },
  tariffVersion: { path: "/platform/tariff/versions/:version", file: "tariff" },
  tariffComparison: { path: "/platform/tariff/comparison" },
  tariffDrafts: { path: "/platform/drafts", label: "Drafts" },
  tariffDraft: { path: "/platform/drafts/:draft" },
  slots: { path: "/platform/slots", label: "Slots" },
  platformWorkspaces: { path: "/platform/workspaces", label: "Workspaces" },
  platformWorkspace: { path: "/platform/workspaces/:workspace", file: "platformWorkspaces" },
  operators: { path: "/platform/operators", label: "Operators", key: "p" },
  operator: { path: "/platform/operators/:operator", file: "operators" },
  auditLog: { path: "/platform/audit", label: "Audit log" },
  health: { path: "/platform/health", label: "Health" },
} as const satisfies Readonly<Record<string, PageEntry>>;

export type PageName = keyof typeof PAGES;

/** `PAGES` as a list with a common type. */
export const PAGE_ENTRIES = Object.entries(PAGES) as readonly (readonly [PageName, PageEntry])[];

/** Returns the keys that open a page, such as `g s`. */
export function keysOf({ label = "", key = label.charAt(0).toLowerCase() }: Pick<PageEntry, "label" | "key">): string {
  return `g ${key}`;
}

/** SVG path of each labeled page's icon in a 16 by 16 box. */
export const ICONS: Readonly<Record<string, string>> = {
  Overview: "M2.5 13.5h11M4 11V8M8 11V3.5M12 11V6",
  [ATTENTION]: "M8 2.2 14.3 13.3H1.7ZM8 6.6v3M8 11.5h.01",
  Shipments: "M8 1.8 13.5 5v6L8 14.2 2.5 11V5ZM2.5 5 8 8.2 13.5 5M8 8.2v6",
  "Quote and book": "M4 2.5h8v11l-2-1.3-2 1.3-2-1.3-2 1.3ZM6 5.8h4M6 8.5h4",
  Customers: "M8 7.5a2.6 2.6 0 1 0 0-5.2 2.6 2.6 0 0 0 0 5.2ZM3 13.7a5 5 0 0 1 10 0",
  Couriers: "M1.5 4h8v7h-8ZM9.5 6.5h3l2 2.2V11h-5M4 13.5h1M11 13.5h1",
  Settings: "M2 5h7M13 5h1M2 11h1M7 11h7M11 3v4M5 9v4",
  API: "M5.5 4.5 2 8l3.5 3.5M10.5 4.5 14 8l-3.5 3.5",
  Requests: "M2.5 4.5h11M2.5 8h11M2.5 11.5h6M11 11.5l1.3 1.3 2.2-2.6",
  Events: "M9 1.8 3.5 9H8l-1 5.2L12.5 7H8Z",
  Webhooks: "M2 8h8M7 4.5 10.5 8 7 11.5M13.5 3v10",
  "Test mode": "M6 2.2v4L2.6 12.6a.8.8 0 0 0 .7 1.2h9.4a.8.8 0 0 0 .7-1.2L10 6.2v-4M5 2.2h6M4.6 10h6.8",
  Tariff: "M8.5 2h5.5v5.5L7.8 13.7 2.3 8.2ZM11 5h.01",
  Drafts: "M9.8 3.2 12.8 6.2 5.8 13.2H2.8v-3ZM8.3 4.7l3 3",
  Slots: "M8 14.2A6.2 6.2 0 1 0 8 1.8a6.2 6.2 0 0 0 0 12.4ZM8 4.5V8l2.5 1.5",
  Workspaces: "M2 2.5h5v5H2ZM9 2.5h5v5H9ZM2 9.5h5v4H2ZM9 9.5h5v4H9Z",
  Operators: "M8 1.8 13 3.6v4c0 3.1-2 5.4-5 6.6-3-1.2-5-3.5-5-6.6v-4ZM5.8 8l1.6 1.6 3-3.2",
  "Audit log": "M3 3.5h10M3 6.5h10M3 9.5h6M3 12.5h6M11 11.5l1.2 1.2 2-2.2",
  Health: "M1.5 8.5H5L6.5 4l3 8.5L11 8.5h3.5",
};
