const MOST = 6;

export interface RecentShipment {
  readonly reference: string;
  readonly customer: string;
}

export function recentShipments(workspace: string): readonly RecentShipment[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(storedAs(workspace)) ?? "[]");
    return Array.isArray(stored) ? stored.filter(isRecent) : [];
  } catch {
    return [];
  }
}

export function noteRecentShipment(workspace: string, shown: RecentShipment): void {
  const others = recentShipments(workspace).filter(
    ({ reference }) => reference !== shown.reference,
  );
  localStorage.setItem(storedAs(workspace), JSON.stringify([shown, ...others].slice(0, MOST)));
}

function storedAs(workspace: string): string {
  return `recent-shipments-${workspace}`;
}

function isRecent(value: unknown): value is RecentShipment {
  const { reference, customer } = (value ?? {}) as Record<string, unknown>;
  return typeof reference === "string" && typeof customer === "string";
}
