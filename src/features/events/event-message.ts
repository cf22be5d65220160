import { create, fromJson, type JsonObject } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { EventSchema, type Event as EventMessage } from "../../../gen/shipments/v1/event_pb.js";
import { ShipmentSchema } from "../../../gen/shipments/v1/shipment_pb.js";
import { WebhookSchema } from "../../../gen/shipments/v1/webhook_pb.js";
import { jsonBytes } from "../../pipeline/page.ts";
import type { Event } from "./event.entity.ts";

/** Key of an event within its workspace. */
export interface EventKey {
  /** The shipment's reference or the webhook's id. */
  readonly subject: string;
  /** Number of the event within the subject, from 1. */
  readonly number: number;
}

const EVENT_ID = /^evt_([A-Za-z0-9_-]{1,64})_([1-9][0-9]{0,8})$/;
/** Maximum event number: the maximum of `integer` in PostgreSQL. */
const MAX_NUMBER = 2 ** 31 - 1;

export function isEventNumber(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) > 0 && (value as number) <= MAX_NUMBER;
}

/**
 * Returns the public id of an event, `evt_<subject>_<number>`. It contains no full stop, which
 * Standard Webhooks forbids.
 */
export function writeEventId({ subject, number }: EventKey): string {
  return `evt_${subject}_${number}`;
}

/** Parses the public id of an event. Returns `undefined` if it is malformed. */
export function readEventId(id: string): EventKey | undefined {
  const [, subject, number] = EVENT_ID.exec(id) ?? [];
  return subject === undefined ? undefined : { subject, number: Number(number) };
}

/** JSON options for stored events. An old event may have a field that has since been removed. */
const LENIENT = { ignoreUnknownFields: true };

export type EventContent = Pick<
  Event,
  "position" | "subject" | "number" | "type" | "data" | "actor" | "apiKey" | "courier" | "createdAt"
>;

export interface EventRow extends Omit<EventContent, "data" | "createdAt"> {
  /** JSON text of the event's data. */
  readonly data: string;
  readonly createdMs: number;
}

export function toEvent(row: EventRow): EventContent {
  const { position, subject, number, type, actor, apiKey, courier } = row;
  const data = JSON.parse(row.data) as JsonObject;
  return {
    position,
    subject,
    number,
    type,
    data,
    actor,
    apiKey,
    courier,
    createdAt: new Date(Math.round(row.createdMs)),
  };
}

/**
 * Returns an event as an API message.
 *
 * @param of.test whether the event belongs to a test twin
 */
export function eventMessage(event: EventContent, { test }: { readonly test: boolean }): EventMessage {
  const { position, subject, number, type, data, actor, apiKey, courier, createdAt } = event;
  return create(EventSchema, {
    id: writeEventId({ subject, number }),
    type,
    timestamp: timestampFromDate(createdAt),
    number,
    position: BigInt(position),
    test,
    ...(actor ? { actor } : {}),
    ...(apiKey ? { apiKey: { ...apiKey, name: apiKey.name ?? undefined } } : {}),
    ...(courier ? { courier } : {}),
    ...(type.startsWith("shipment.")
      ? { shipment: subject, data: fromJson(ShipmentSchema, data, LENIENT) }
      : { webhook: fromJson(WebhookSchema, data, LENIENT) }),
  });
}

/** Upper bound in bytes for an event without its data. Includes the null fields in the JSON of `/v1`. */
const WITHOUT_DATA = 2 * 1024;

/** Returns an upper bound for the size of an event in a response of any format, in bytes. */
export function eventBytes({ data }: Pick<Event, "data">): number {
  return WITHOUT_DATA + jsonBytes(data);
}
