import { type AttemptReason, nextEnd, type Shipment, type Status } from "./shipment.ts";

/** Data that the courier enters with an act. Pictures are base64. */
export interface Details {
  readonly reason?: AttemptReason;
  readonly note?: string;
  readonly pin?: string;
  readonly received_by?: string;
  readonly photo?: string;
  readonly signature?: string;
}

/** A call to `/v1/shipments/{shipment}/{name}`. */
export interface ActCall {
  readonly name: "progress" | "advance" | "attempts" | "proof" | "return";
  readonly body: Readonly<Record<string, string>>;
}

interface Rule {
  /** Statuses that allow the act. */
  readonly from: readonly Status[];
  /** Further condition of the state. */
  readonly isAllowed?: (shipment: Shipment) => boolean;
  /** Whether the act can be done for all shipments of a stop at once. */
  readonly isShared?: boolean;
  /** Calls that record the act of a shipment, in order. */
  readonly calls: (details: Details, shipment: Shipment) => readonly ActCall[];
  /** Changes that the act makes to the shipment, shown until the service has confirmed them. */
  readonly changes: (shipment: Shipment, details: Details, at: string) => Partial<Shipment>;
}

const arrive = (stage: "at_pickup" | "at_dropoff", from: Status): Rule => ({
  from: [from],
  isAllowed: (shipment) => shipment.stage !== stage,
  isShared: true,
  calls: () => [{ name: "progress", body: { stage } }],
  changes: () => ({ stage }),
});

export type ActKind = "arrive_pickup" | "pick_up" | "arrive_dropoff" | "deliver" | "fail" | "return";

/** All acts of a courier, in the order in which the page offers them. */
export const ACTS: Readonly<Record<ActKind, Rule>> = {
  arrive_pickup: arrive("at_pickup", "awaiting_pickup"),
  pick_up: {
    from: ["awaiting_pickup"],
    isShared: true,
    calls: () => [{ name: "advance", body: { from: "awaiting_pickup" } }],
    changes: () => ({ status: "in_transit", stage: null, pickup_eta: null }),
  },
  arrive_dropoff: arrive("at_dropoff", "in_transit"),
  deliver: {
    from: ["in_transit"],
    calls: (details) => [...proof(details), { name: "advance", body: { from: "in_transit" } }],
    changes: () => ({ status: "delivered", stage: null, dropoff_eta: null }),
  },
  fail: {
    from: ["awaiting_pickup", "in_transit"],
    calls: ({ reason = "other", note }, { status: from }) => [
      { name: "attempts", body: { reason, ...(note && { note }), from } },
    ],
    changes: (shipment, { reason = "other", note = null }, at) => ({
      stage: shipment.status === "awaiting_pickup" ? "assigned" : null,
      attempts: [...shipment.attempts, { end: nextEnd(shipment), reason, note, attempted_at: at }],
    }),
  },
  return: {
    from: ["in_transit"],
    isAllowed: ({ attempts }) => attempts.some(({ end }) => end === "dropoff"),
    calls: () => [{ name: "return", body: {} }],
    changes: () => ({ status: "returned", stage: null, dropoff_eta: null }),
  },
};

function proof(details: Details): ActCall[] {
  const body = Object.fromEntries(Object.entries(details).filter(([, value]) => value));
  return Object.keys(body).length === 0 ? [] : [{ name: "proof", body }];
}

/** Returns the acts that the shipment's state allows. */
export function allowedActs(shipment: Shipment): ActKind[] {
  return (Object.keys(ACTS) as ActKind[]).filter((kind) => {
    const { from, isAllowed } = ACTS[kind];
    return from.includes(shipment.status) && (isAllowed?.(shipment) ?? true);
  });
}

/** Statuses that follow each status, without `cancelled`, about which the courier has to know. */
const LATER: Partial<Record<string, readonly Status[]>> = {
  awaiting_pickup: ["in_transit", "delivered", "returned"],
  in_transit: ["delivered", "returned"],
};

/**
 * Whether a refused call is superfluous, because the shipment is already in the state that the call requests, or
 * further. This happens when another device or the dispatcher recorded the act first.
 */
export function isSuperseded({ name, body }: ActCall, { status, stage }: Shipment): boolean {
  if (name === "return") return status === "returned";
  if (name === "advance" && body["from"] === "in_transit") return status === "delivered";
  if (name === "progress" && stage === body["stage"]) return true;
  const from = name !== "progress" ? body["from"] : body["stage"] === "at_pickup" ? "awaiting_pickup" : "in_transit";
  return from !== undefined && LATER[from]?.includes(status) === true;
}
