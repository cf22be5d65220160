import type { ComponentType } from "preact";
import type { Role } from "./api/session.ts";
import { paths, type Path } from "./paths.ts";

/** Where a page stands in the navigation. */
export interface MenuEntry {
  readonly section: "Workspace" | "Settings" | "Platform";
  readonly label: string;
  /** The least role that sees it; everybody does when it is not given. */
  readonly role?: Role;
}

/** A page, loaded when it is first shown. */
export interface Page {
  readonly path: Path<unknown>;
  readonly load: () => Promise<ComponentType<object>>;
  readonly menu: MenuEntry | undefined;
}

/** Parameters of the path become the props of the page's component. */
function page<T>(path: Path<T>, load: () => Promise<ComponentType<T>>, menu?: MenuEntry): Page {
  return { path: path as Path<unknown>, load: load as unknown as Page["load"], menu };
}

/** Every page of the dashboard, in the order of the navigation. */
export const PAGES: readonly Page[] = [
  page(paths.shipments, () => import("./pages/shipments.tsx").then((it) => it.ShipmentsPage), {
    section: "Workspace",
    label: "Shipments",
  }),
  page(paths.shipment, () => import("./pages/shipment.tsx").then((it) => it.ShipmentPage)),
];

/** The address of the platform's first page; undefined while it has none. */
export function firstPlatformPage(): string | undefined {
  return PAGES.find(({ menu }) => menu?.section === "Platform")?.path({});
}
