import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import { type DeliveryProgress, failedNow, NO_PROGRESS, stageOf } from "../../domain/shipment/delivery-progress.ts";
import { MAX_WRONG_PINS } from "../../domain/shipment/delivery-proof.ts";
import { type Item, mayRecipientEdit } from "../../domain/shipment/delivery-details.ts";
import { hasEnded, type ShipmentStatus } from "../../domain/shipment/shipment-state.ts";
import { haversineKm, type Point } from "../../domain/coverage/geo.ts";
import { isTrackingLinkOf, parseTrackingLink } from "../../domain/shipment/tracking-link.ts";
import type { TrackedShipment } from "../../domain/shipment/tracked-shipment.ts";
import { findTestTime } from "../workspaces/test-clock.ts";
import { IS_LIVE_OF } from "../workspaces/workspace.entity.ts";
import type { ShipmentKey } from "./find-shipment.ts";
import { bookedWindows, type StoredWindows } from "./shipment-windows.ts";

/** Validity of a link after the final status, in milliseconds. */
const KEPT_MS = 30 * 24 * 60 * 60_000;

export interface TrackingDeps {
  readonly em: EntityManager;
  readonly now: () => Date;
  /**
   * Returns the name of the zone at a point in the current tariff. `undefined` if the point is outside all zones or
   * there is no tariff.
   */
  readonly zoneAt: (point: Point) => string | undefined;
}

interface LinkedWorkspace {
  readonly id: number;
  readonly name: string;
  readonly contact: string | null;
  readonly logo: Buffer | null;
  readonly timeZone: string;
  readonly test: boolean;
  readonly slug: string;
  readonly secret: string;
  readonly showsCourier: boolean;
  readonly notifiesRecipients: boolean;
}

/** Selects workspaces with enabled tracking. Links of suspended workspaces are invalid. */
const findWorkspace = (condition: string) => `
  select workspace.id::float8 as id, live.name, workspace.tracking_slug as slug,
    workspace.tracking_secret as secret,
    workspace.twin_of is not null as test, live.tracking_contact as contact, live.tracking_logo as logo, live.time_zone as "timeZone",
    live.tracking_shows_courier as "showsCourier", live.notifies_recipients as "notifiesRecipients"
  from workspace join workspace as live on ${IS_LIVE_OF}
  where ${condition} and live.tracking_enabled and live.suspended_at is null`;
const FIND_BY_SLUG = findWorkspace("workspace.tracking_slug = $1");
const FIND_BY_ID = findWorkspace("workspace.id = $1 and workspace.tracking_secret is not null");

interface Tracked {
  readonly status: ShipmentStatus;
  readonly createdMs: number;
  /** Time of the final status. null before the final status, and for old shipments without a recorded time. */
  readonly endedMs: number | null;
  readonly changedMs: number;
  readonly progress: DeliveryProgress | null;
  readonly locale: string | null;
  readonly email: string | null;
  readonly phone: string | null;
  readonly address: string;
  readonly instructions: string | null;
  readonly recipientEdits: number;
  readonly items: readonly Item[];
  readonly pin: string | null;
  /** Position of the courier in the last 15 minutes, or null. */
  readonly place: Point | null;
  readonly windows: StoredWindows | null;
  readonly lat: number;
  readonly lng: number;
  /** Times of stored events by type, in milliseconds. */
  readonly reached: Readonly<Record<string, number>> | null;
}

const FIND_SHIPMENT = `
  select status, extract(epoch from created_at)::float8 * 1000 as "createdMs",
    extract(epoch from coalesce(cancelled_at, delivered_at, returned_at))::float8 * 1000 as "endedMs",
    extract(epoch from updated_at)::float8 * 1000 as "changedMs", windows, progress,
    recipient_locale as locale, recipient_email as email, recipient_phone as phone, verification ->> 'pin' as pin,
    dropoff_instructions as instructions, recipient_edits as "recipientEdits", items,
    dropoff_address as address, dropoff_lat as lat, dropoff_lng as lng,
    (select json_build_object('lat', place.lat, 'lng', place.lng) from courier_place as place
     where place.workspace_id = $1 and place.shipment_reference = $2
       and place.measured_at > now() - interval '15 minutes') as place,
    (select json_object_agg(type, extract(epoch from event.created_at)::float8 * 1000) from event
     where event.workspace_id = $1 and event.subject = $2 and type = any(
       '{shipment.awaiting_pickup,shipment.in_transit,shipment.delivered}')) as reached
  from shipment where workspace_id = $1 and reference = $2`;

export interface LinkedShipment {
  readonly tracked: TrackedShipment;
  readonly recipientEmail: string | undefined;
  /** Phone number in E.164. */
  readonly recipientPhone: string | undefined;
  /** Dropoff address, which only the verified recipient may see. */
  readonly dropoffAddress: string;
  /** Instructions for the courier, which only the verified recipient may see. */
  readonly dropoffInstructions: string | undefined;
  /** Whether the verified recipient may change the instructions. */
  readonly mayEdit: boolean;
  /** PIN to give to the courier. `undefined` if there is none or it is no longer needed. */
  readonly dropoffPin: string | undefined;
  readonly workspace: LinkedWorkspace;
}

/**
 * Returns the shipment of a tracking link. `undefined` for an invalid, replaced, disabled or
 * expired link. All well-formed links run the same statements, so timing reveals nothing.
 */
export async function findLinked(text: string, deps: TrackingDeps): Promise<LinkedShipment | undefined> {
  const link = parseTrackingLink(text);
  if (link === undefined) return undefined;
  const [workspace] = await runStatement<LinkedWorkspace>(deps.em, FIND_BY_SLUG, [link.slug]);
  if (workspace === undefined || !isTrackingLinkOf(workspace.secret, link)) return undefined;
  return loadTracked(workspace, link.reference, deps);
}

/** Returns a shipment as shown on its tracking page. `undefined` if the link would be invalid. */
export async function findTracked(
  { workspace: id, reference }: ShipmentKey,
  deps: TrackingDeps,
): Promise<LinkedShipment | undefined> {
  const [workspace] = await runStatement<LinkedWorkspace>(deps.em, FIND_BY_ID, [id]);
  return workspace && loadTracked(workspace, reference, deps);
}

async function loadTracked(
  workspace: LinkedWorkspace,
  reference: string,
  { em, now, zoneAt }: TrackingDeps,
): Promise<LinkedShipment | undefined> {
  const { id, name, contact, logo, timeZone, test } = workspace;
  const [shipment] = await runStatement<Tracked>(em, FIND_SHIPMENT, [id, reference]);
  if (shipment === undefined) return undefined;
  const { status, createdMs, windows, lat, lng, reached } = shipment;
  const endedMs = shipment.endedMs ?? reached?.["shipment.delivered"] ?? shipment.changedMs;
  const at = (test ? await findTestTime(em, id) : undefined) ?? now();
  if (hasEnded(status) && at.getTime() - endedMs > KEPT_MS) return undefined;
  const ended = hasEnded(status) ? { [status]: endedMs } : {};
  const { proof, wrongPins = 0 } = shipment.progress ?? NO_PROGRESS;
  const tracked = {
    reference,
    status,
    reachedMs: {
      pending: createdMs,
      awaiting_pickup: reached?.["shipment.awaiting_pickup"],
      in_transit: reached?.["shipment.in_transit"],
      ...ended,
    },
    ...progressOf(shipment, workspace),
    windows: bookedWindows(windows),
    items: shipment.items,
    recipientLocale: shipment.locale ?? undefined,
    canOpen: shipment.phone !== null && status !== "cancelled",
    hasPhoto: status === "delivered" && proof?.photo === true,
    area: zoneAt({ lat, lng }),
    atMs: at.getTime(),
    workspace: { name, contact: contact ?? undefined, logo: logo ?? undefined, timeZone },
    test,
  };
  const isTold = proof !== undefined && (proof.pinVerified || proof.waived !== null);
  const isToTell = !hasEnded(status) && !isTold && wrongPins < MAX_WRONG_PINS;
  return {
    tracked,
    recipientEmail: shipment.email ?? undefined,
    recipientPhone: shipment.phone ?? undefined,
    dropoffAddress: shipment.address,
    dropoffInstructions: shipment.instructions ?? undefined,
    mayEdit: mayRecipientEdit(shipment),
    dropoffPin: isToTell ? (shipment.pin ?? undefined) : undefined,
    workspace,
  };
}

/** Returns a distance rounded to 100 m, and at least 100 m, so that the exact position cannot be derived. */
function roughKm(from: Point, to: Point): number {
  return Math.max(1, Math.round(haversineKm(from, to) * 10)) / 10;
}

/**
 * Returns the first word of a name. `undefined` for a name such as "Lovelace, Ada", which begins
 * with the family name.
 */
function firstNameOf(name: string): string | undefined {
  return /[,，、]/.test(name) ? undefined : name.split(/\s/)[0];
}

/** Returns the parts of the delivery progress that the public may see. */
function progressOf({ status, progress, place, lat, lng }: Tracked, { showsCourier }: LinkedWorkspace) {
  const reported = progress ?? NO_PROGRESS;
  const { courier, etas, arrivedAt } = reported;
  const isOnItsWay = status === "in_transit";
  return {
    stage: stageOf(status, reported),
    etas,
    courier:
      isOnItsWay && showsCourier && courier !== null
        ? {
            firstName: firstNameOf(courier.name),
            vehicle: courier.vehicle ?? undefined,
            distanceKm: place === null || arrivedAt !== null ? undefined : roughKm(place, { lat, lng }),
          }
        : undefined,
    failed: failedNow(status, reported),
  };
}
