import { useEffect, useState } from "preact/hooks";
import type { ActKind } from "../run/acts.ts";
import type { End } from "../run/shipment.ts";

/** Screens and their addresses. They are in the fragment, because one stored page serves all of them. */
export const paths = {
  run: "#/",
  outbox: "#/outbox",
  stop: (shipment: string, end: End) => `#/stop/${shipment}/${end}`,
  act: (kind: ActKind, shipments: readonly string[]) => `#/act/${kind}/${shipments.join(",")}`,
};

/** Returns the parts of the address, such as `["act", "deliver", "SHP-0000000000ZZ"]`. Empty on the run. */
export function useRoute(): readonly string[] {
  const [route, setRoute] = useState(partsOfHash);
  useEffect(() => {
    const update = () => setRoute(partsOfHash());
    addEventListener("hashchange", update);
    return () => removeEventListener("hashchange", update);
  }, []);
  return route;
}

const partsOfHash = () => location.hash.split("/").slice(1).filter(Boolean);

/** Returns the token of a courier's link in the address, if any. */
export function tokenInAddress(): string | undefined {
  const fragment = location.hash.slice(1);
  return fragment === "" || fragment.startsWith("/") ? undefined : fragment;
}

/** Goes to a screen. Back does not return to the current one. */
export function replaceScreen(path: string): void {
  location.replace(path);
}
