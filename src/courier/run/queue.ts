import { type ActCall, type ActKind, ACTS, type Details } from "./acts.ts";
import type { Shipment } from "./shipment.ts";

/** An act of the courier that is not completely sent. */
export interface QueuedAct {
  /** Position in the queue. */
  readonly seq: number;
  /** Idempotency key of the first call. The key of a further call has its index appended. */
  readonly id: string;
  /** Id of the courier who acted. */
  readonly courier: string;
  readonly kind: ActKind;
  readonly shipment: string;
  /** Time of the act (RFC 3339), by the service's clock. */
  readonly at: string;
  /** Entries without pictures, which are stored separately. */
  readonly details: Details;
  readonly hasPhoto: boolean;
  readonly hasSignature: boolean;
  readonly calls: readonly ActCall[];
  /** Number of calls that the service has confirmed. */
  readonly sent: number;
  /** Refusal of the next call. The act stays in the queue until the courier decides. */
  readonly conflict?: Conflict;
}

/** Refusal of a call, as the service returns it. */
export interface Conflict {
  readonly code: string;
  readonly message: string;
  /** Facts that depend on the code. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
}

/**
 * Returns the acts of a courier that can be sent, in order. Acts wait for earlier acts of the same shipment that are in
 * conflict or belong to another courier. Acts are in the order of the queue.
 */
export function readyActs(acts: readonly QueuedAct[], courier: string | undefined): QueuedAct[] {
  const blocked = new Set<string>();
  return acts.filter((act) => {
    const isReady = act.conflict === undefined && act.courier === courier;
    if (!isReady) blocked.add(act.shipment);
    return isReady && !blocked.has(act.shipment);
  });
}

/** Applies the queued acts of a courier to shipments, as if the service had already confirmed them. */
export function withQueued(shipments: readonly Shipment[], acts: readonly QueuedAct[], courier: string) {
  return shipments.map((confirmed) => {
    const own = acts.filter((act) => act.shipment === confirmed.reference && act.courier === courier);
    const conflict = own.findIndex((act) => act.conflict !== undefined);
    return own.slice(0, conflict < 0 ? own.length : conflict).reduce<Shipment>((shipment, act) => {
      return { ...shipment, ...ACTS[act.kind].changes(shipment, act.details, act.at) };
    }, confirmed);
  });
}
