import type { TrackedShipment } from "../../src/domain/shipment/tracked-shipment.ts";

export const at = (time: string) => Date.parse(`2026-11-02T${time}Z`);

export const TRACKED: TrackedShipment = {
  reference: "SHP-0123456789AB",
  status: "in_transit",
  reachedMs: { in_transit: at("12:00") },
  windows: {
    pickup: undefined,
    dropoff: { startMs: at("19:00"), endMs: at("21:00"), timeZone: "America/New_York" },
  },
  stage: undefined,
  etas: { pickup: null, dropoff: at("19:30") },
  courier: { firstName: "Ada", vehicle: "Cargo bike", distanceKm: 1.2 },
  failed: undefined,
  items: [],
  recipientLocale: undefined,
  canOpen: false,
  hasPhoto: false,
  area: "Kings",
  atMs: at("12:00"),
  workspace: {
    name: "Acme <b> & Sons",
    contact: "help@example.org",
    logo: undefined,
    timeZone: "UTC",
  },
  test: false,
};
