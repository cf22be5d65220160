import type { ComponentType } from "preact";
import { paths, type Path } from "../routes/paths.ts";

/** A page, whose code is loaded when it is first shown. */
export interface Page {
  readonly path: Path<unknown>;
  /** Loads the component, once. */
  readonly load: () => Promise<unknown>;
  /** The component; undefined until it is loaded. */
  readonly component: () => ComponentType<object> | undefined;
}

/** The component of this name is the page; parameters of the path are its props. */
function page<T, Name extends string>(
  path: Path<T>,
  load: () => Promise<Readonly<Record<Name, ComponentType<T>>>>,
  name: Name,
): Page {
  let component: ComponentType<object> | undefined;
  return {
    path: path as Path<unknown>,
    async load() {
      component ??= (await load())[name] as unknown as ComponentType<object>;
    },
    component: () => component,
  };
}

/** Every page of the dashboard. */
export const PAGES: readonly Page[] = [
  page(paths.account, () => import("../people/account.tsx"), "AccountPage"),
  page(paths.overview, () => import("../reports/overview.tsx"), "OverviewPage"),
  page(paths.attention, () => import("../attention/attention.tsx"), "AttentionPage"),
  page(paths.shipments, () => import("../shipments/shipments.tsx"), "ShipmentsPage"),
  // Before what would take their names for a reference.
  page(paths.labels, () => import("../print/labels.tsx"), "LabelsPage"),
  page(paths.manifest, () => import("../print/manifest.tsx"), "ManifestPage"),
  page(paths.shipment, () => import("../shipments/shipment.tsx"), "ShipmentPage"),
  page(paths.receipt, () => import("../print/receipt.tsx"), "ReceiptPage"),
  page(paths.book, () => import("../shipments/book.tsx"), "BookPage"),
  page(paths.customers, () => import("../customers/customers.tsx"), "CustomersPage"),
  page(paths.customer, () => import("../customers/customer.tsx"), "CustomerPage"),
  page(paths.apiKeys, () => import("../keys/api-keys.tsx"), "ApiKeysPage"),
  page(paths.webhooks, () => import("../webhooks/webhooks.tsx"), "WebhooksPage"),
  page(paths.webhook, () => import("../webhooks/webhooks.tsx"), "WebhookPage"),
  page(paths.settings, () => import("../workspaces/settings.tsx"), "SettingsPage"),
  page(paths.platform, () => import("../reports/platform-overview.tsx"), "PlatformOverviewPage"),
  page(
    paths.platformAttention,
    () => import("../attention/platform-attention.tsx"),
    "PlatformAttentionPage",
  ),
  page(paths.tariff, () => import("../tariffs/tariff.tsx"), "TariffPage"),
  page(paths.tariffVersion, () => import("../tariffs/tariff.tsx"), "TariffVersionPage"),
  page(
    paths.tariffComparison,
    () => import("../tariffs/tariff-comparison.tsx"),
    "TariffComparisonPage",
  ),
  page(paths.tariffDrafts, () => import("../tariffs/tariff-drafts.tsx"), "TariffDraftsPage"),
  page(paths.tariffDraft, () => import("../tariffs/tariff-draft.tsx"), "TariffDraftPage"),
  page(
    paths.platformWorkspaces,
    () => import("../workspaces/platform-workspaces.tsx"),
    "PlatformWorkspacesPage",
  ),
  page(
    paths.platformWorkspace,
    () => import("../workspaces/platform-workspace.tsx"),
    "PlatformWorkspacePage",
  ),
  page(paths.operators, () => import("../operators/operators.tsx"), "OperatorsPage"),
  page(paths.operator, () => import("../operators/operator.tsx"), "OperatorPage"),
  page(paths.auditLog, () => import("../audit/audit-log.tsx"), "AuditLogPage"),
  page(paths.health, () => import("../reports/health.tsx"), "HealthPage"),
];

/** Where the pages of the platform begin, which only operators see. */
export function isPlatformPath(pathname: string): boolean {
  return pathname === "/platform" || pathname.startsWith("/platform/");
}

/** The page at a path, with the parameters in it; undefined when there is none. */
export function findPage(
  pathname: string,
): { readonly page: Page; readonly parameters: object } | undefined {
  for (const candidate of PAGES) {
    const parameters = candidate.path.match(pathname);
    if (parameters !== undefined) return { page: candidate, parameters: parameters as object };
  }
  return undefined;
}
