import type { ComponentType } from "preact";
import type { Role } from "../api/session.ts";
import { type Path, paths } from "../routes/paths.ts";

/** Where a page stands in the navigation. */
export interface MenuEntry {
  readonly section: "Workspace" | "Settings" | "Platform";
  readonly label: string;
  /** The least role that sees it; everybody does when it is not given. */
  readonly role?: Role;
}

/** A page, whose code is loaded when it is first shown. */
export interface Page {
  readonly path: Path<unknown>;
  /** Loads the component, once. */
  readonly load: () => Promise<unknown>;
  /** The component; undefined until it is loaded. */
  readonly component: () => ComponentType<object> | undefined;
  readonly menu: MenuEntry | undefined;
}

/** Parameters of the path become the props of the page's component. */
function page<T>(path: Path<T>, load: () => Promise<ComponentType<T>>, menu?: MenuEntry): Page {
  let component: ComponentType<object> | undefined;
  return {
    path: path as Path<unknown>,
    async load() {
      component ??= (await load()) as unknown as ComponentType<object>;
    },
    component: () => component,
    menu,
  };
}

/** Every page of the dashboard, in the order of the navigation. */
export const PAGES: readonly Page[] = [
  page(paths.account, () => import("../people/account.tsx").then((it) => it.AccountPage)),
  page(paths.overview, () => import("../reports/overview.tsx").then((it) => it.OverviewPage), {
    section: "Workspace",
    label: "Overview",
  }),
  page(paths.shipments, () => import("../shipments/shipments.tsx").then((it) => it.ShipmentsPage), {
    section: "Workspace",
    label: "Shipments",
  }),
  page(paths.shipment, () => import("../shipments/shipment.tsx").then((it) => it.ShipmentPage)),
  page(paths.book, () => import("../shipments/book.tsx").then((it) => it.BookPage), {
    section: "Workspace",
    label: "Quote and book",
  }),
  page(paths.customers, () => import("../customers/customers.tsx").then((it) => it.CustomersPage), {
    section: "Workspace",
    label: "Customers",
  }),
  page(paths.customer, () => import("../customers/customer.tsx").then((it) => it.CustomerPage)),
  page(paths.apiKeys, () => import("../keys/api-keys.tsx").then((it) => it.ApiKeysPage), {
    section: "Settings",
    label: "API",
  }),
  page(paths.webhooks, () => import("../webhooks/webhooks.tsx").then((it) => it.WebhooksPage), {
    section: "Settings",
    label: "Webhooks",
  }),
  page(paths.webhook, () => import("../webhooks/webhook.tsx").then((it) => it.WebhookPage)),
  page(paths.members, () => import("../people/members.tsx").then((it) => it.MembersPage), {
    section: "Settings",
    label: "Members",
  }),
  page(paths.payments, () => import("../workspaces/payments.tsx").then((it) => it.PaymentsPage), {
    section: "Settings",
    label: "Payments",
  }),
  page(
    paths.workspace,
    () => import("../workspaces/workspace.tsx").then((it) => it.WorkspacePage),
    {
      section: "Settings",
      label: "Workspace",
    },
  ),
  page(
    paths.platform,
    () => import("../reports/platform-overview.tsx").then((it) => it.PlatformOverviewPage),
    { section: "Platform", label: "Overview" },
  ),
  page(paths.tariff, () => import("../tariffs/tariff.tsx").then((it) => it.TariffPage), {
    section: "Platform",
    label: "Tariff",
  }),
  page(paths.tariffVersion, () =>
    import("../tariffs/tariff-version.tsx").then((it) => it.TariffVersionPage),
  ),
  page(paths.tariffComparison, () =>
    import("../tariffs/tariff-comparison.tsx").then((it) => it.TariffComparisonPage),
  ),
  page(
    paths.tariffDrafts,
    () => import("../tariffs/tariff-drafts.tsx").then((it) => it.TariffDraftsPage),
    { section: "Platform", label: "Drafts" },
  ),
  page(paths.tariffDraft, () =>
    import("../tariffs/tariff-draft.tsx").then((it) => it.TariffDraftPage),
  ),
  page(
    paths.platformWorkspaces,
    () => import("../workspaces/platform-workspaces.tsx").then((it) => it.PlatformWorkspacesPage),
    { section: "Platform", label: "Workspaces" },
  ),
  page(paths.platformWorkspace, () =>
    import("../workspaces/platform-workspace.tsx").then((it) => it.PlatformWorkspacePage),
  ),
  page(paths.operators, () => import("../operators/operators.tsx").then((it) => it.OperatorsPage), {
    section: "Platform",
    label: "Operators",
  }),
  page(paths.operator, () => import("../operators/operator.tsx").then((it) => it.OperatorPage)),
  page(paths.auditLog, () => import("../audit/audit-log.tsx").then((it) => it.AuditLogPage), {
    section: "Platform",
    label: "Audit log",
  }),
  page(paths.health, () => import("../reports/health.tsx").then((it) => it.HealthPage), {
    section: "Platform",
    label: "Health",
  }),
];

/** Where the pages of the platform begin, which only operators see. */
export function isPlatformPath(pathname: string): boolean {
  return pathname === "/platform" || pathname.startsWith("/platform/");
}

/** The address of the platform's first page; undefined while it has none. */
export function firstPlatformPage(): string | undefined {
  return PAGES.find(({ menu }) => menu?.section === "Platform")?.path({});
}

/** The page at a path, with the parameters in it; undefined when there is none. */
export function findPage(
  pathname: string,
): { readonly page: Page; readonly parameters: object } | undefined {
  for (const one of PAGES) {
    const parameters = one.path.match(pathname);
    if (parameters !== undefined) return { page: one, parameters: parameters as object };
  }
  return undefined;
}
