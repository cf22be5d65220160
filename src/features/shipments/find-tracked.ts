import type { EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import {
  type DeliveryProgress,
  failedNow,
  NO_PROGRESS,
  stageOf,
} from "../../domain/shipment/delivery-progress.ts";
import { MAX_WRONG_PINS } from "../../domain/shipment/delivery-proof.ts";
import { hasEnded, type ShipmentStatus } from "../../domain/shipment/shipment-state.ts";
import { haversineKm, type Point } from "../../domain/coverage/geo.ts";
import { isTrackingLinkOf, parseTrackingLink } from "../../domain/shipment/tracking-link.ts";
import type { TrackedShipment } from "../../domain/shipment/tracked-shipment.ts";
import { findTestTime } from "../workspaces/test-clock.ts";
import { IS_LIVE_OF } from "../workspaces/workspace.entity.ts";
import type { ShipmentKey } from "./find-shipment.ts";
import { bookedWindows, type StoredWindows } from "./shipment-windows.ts";

/** For how long a link works after its shipment has come to its end, in milliseconds. */
const KEPT_MS = 30 * 24 * 60 * 60_000;

export interface TrackingDeps {
  readonly em: EntityManager;
  readonly now: () => Date;
  /** The name of the zone at a point by the tariff in force; undefined outside of all, and where none is in force. */
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

/** A suspended workspace has no links. */
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
  /** When it came to its end; null before, and where that was not kept yet. */
  readonly endedMs: number | null;
  readonly changedMs: number;
  readonly progress: DeliveryProgress | null;
  readonly locale: string | null;
  readonly email: string | null;
  readonly phone: string | null;
  readonly address: string;
  readonly pin: string | null;
  /** Where its courier was, within the last minutes. */
  readonly place: Point | null;
  readonly windows: StoredWindows | null;
  readonly lat: number;
  readonly lng: number;
  /** When its events happened, by their types, as far as they are kept. */
  readonly reached: Readonly<Record<string, number>> | null;
}

const FIND_SHIPMENT = `
  select status, extract(epoch from created_at)::float8 * 1000 as "createdMs",
    extract(epoch from coalesce(cancelled_at, delivered_at, returned_at))::float8 * 1000 as "endedMs",
    extract(epoch from updated_at)::float8 * 1000 as "changedMs", windows, progress,
    recipient_locale as locale, recipient_email as email, recipient_phone as phone, verification ->> 'pin' as pin,
    dropoff_address as address, dropoff_lat as lat, dropoff_lng as lng,
    (select json_build_object('lat', place.lat, 'lng', place.lng) from courier_place as place
     where place.workspace_id = $1 and place.shipment_reference = $2
       and place.measured_at > now() - interval '15 minutes') as place,
    (select json_object_agg(type, extract(epoch from event.created_at)::float8 * 1000) from event
     where event.workspace_id = $1 and event.subject = $2 and type = any(
       '{shipment.awaiting_pickup,shipment.in_transit,shipment.delivered}')) as reached
  from shipment where workspace_id = $1 and reference = $2`;

/** A shipment that has a tracking link. */
export interface LinkedShipment {
  /** What whoever has the link sees. */
  readonly tracked: TrackedShipment;
  /** Where its recipient gets mails; undefined where that is not known. */
  readonly recipientEmail: string | undefined;
  /** In E.164. */
  readonly recipientPhone: string | undefined;
  /** Of the dropoff; its recipient alone sees it. */
  readonly dropoffAddress: string;
  /** Whether it was delivered with a photo. */
  readonly hasPhoto: boolean;
  /** What the recipient is to tell the courier; undefined where that is nothing, or nothing any more. */
  readonly dropoffPin: string | undefined;
  readonly workspace: LinkedWorkspace;
}

/**
 * The shipment of a tracking link; undefined for what is no link, and alike for one that was replaced, switched off
 * or has ended. The statements of a guess that looks like a link are the same, whatever is wrong with it.
 */
export async function findLinked(
  text: string,
  deps: TrackingDeps,
): Promise<LinkedShipment | undefined> {
  const link = parseTrackingLink(text);
  if (link === undefined) return undefined;
  const [workspace] = await runStatement<LinkedWorkspace>(deps.em, FIND_BY_SLUG, [link.slug]);
  if (workspace === undefined || !isTrackingLinkOf(workspace.secret, link)) return undefined;
  return loadTracked(workspace, link.reference, deps);
}

/** The shipment of a reference; undefined where its link would be none. */
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
    recipientLocale: shipment.locale ?? undefined,
    canOpen: shipment.phone !== null,
    area: zoneAt({ lat, lng }),
    atMs: at.getTime(),
    workspace: { name, contact: contact ?? undefined, logo: logo ?? undefined, timeZone },
    test,
  };
  const { proof, wrongPins = 0 } = shipment.progress ?? NO_PROGRESS;
  const isTold = proof !== undefined && (proof.pinVerified || proof.waived !== null);
  const isToTell = !hasEnded(status) && !isTold && wrongPins < MAX_WRONG_PINS;
  return {
    tracked,
    recipientEmail: shipment.email ?? undefined,
    recipientPhone: shipment.phone ?? undefined,
    dropoffAddress: shipment.address,
    hasPhoto: status === "delivered" && proof?.photo === true,
    dropoffPin: isToTell ? (shipment.pin ?? undefined) : undefined,
    workspace,
  };
}

/** To 100 m, and at least that: where somebody is shall not be found out by it. */
function roughKm(from: Point, to: Point): number {
  return Math.max(1, Math.round(haversineKm(from, to) * 10)) / 10;
}

/** Returns the first word of a name, or `undefined` for "Lovelace, Ada", which begins with the family name. */
function firstNameOf(name: string): string | undefined {
  return /[,，、]/.test(name) ? undefined : name.split(/\s/)[0];
}

/** What of a shipment's progress whoever waits for it may see. */
function progressOf(
  { status, progress, place, lat, lng }: Tracked,
  { showsCourier }: LinkedWorkspace,
) {
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
            distanceKm:
              place === null || arrivedAt !== null ? undefined : roughKm(place, { lat, lng }),
          }
        : undefined,
    failed: failedNow(status, reported),
  };
}
