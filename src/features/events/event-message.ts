import { create, fromJson, type JsonObject } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { EventSchema, type Event as EventMessage } from "../../../gen/shipments/v1/event_pb.js";
import { ShipmentSchema } from "../../../gen/shipments/v1/shipment_pb.js";
import { WebhookSchema } from "../../../gen/shipments/v1/webhook_pb.js";
import { jsonBytes } from "../../pipeline/page.ts";
import type { Event } from "./event.entity.ts";

/** The key of an event within its workspace. */
export interface EventKey {
  /** The shipment's reference, or the webhook's id. */
  readonly subject: string;
  /** From 1 within the subject. */
  readonly number: number;
}

const EVENT_ID = /^evt_([A-Za-z0-9_-]{1,64})_([1-9][0-9]{0,8})$/;
/** The largest value of an `integer` in PostgreSQL. */
const MAX_NUMBER = 2 ** 31 - 1;

export function isEventNumber(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) > 0 && (value as number) <= MAX_NUMBER;
}

/** Returns the public id of an event: `evt_<subject>_<number>`. Standard Webhooks forbids a full stop in it. */
export function writeEventId({ subject, number }: EventKey): string {
  return `evt_${subject}_${number}`;
}

/** Returns the key in a public id. `undefined` if the id is malformed. */
export function readEventId(id: string): EventKey | undefined {
  const [, subject, number] = EVENT_ID.exec(id) ?? [];
  return subject === undefined ? undefined : { subject, number: Number(number) };
}

/** An old event may have a field that has since been removed. */
const LENIENT = { ignoreUnknownFields: true };

export type EventContent = Pick<
  Event,
  "position" | "subject" | "number" | "type" | "data" | "actor" | "apiKey" | "createdAt"
>;

export interface EventRow extends Omit<EventContent, "data" | "createdAt"> {
  /** JSON. */
  readonly data: string;
  readonly createdMs: number;
}

export function toEvent(row: EventRow): EventContent {
  const { position, subject, number, type, actor, apiKey } = row;
  const data = JSON.parse(row.data) as JsonObject;
  return {
    position,
    subject,
    number,
    type,
    data,
    actor,
    apiKey,
    createdAt: new Date(Math.round(row.createdMs)),
  };
}

/**
 * Returns the public representation of an event.
 *
 * @param of.test whether it belongs to a test twin
 */
export function eventMessage(
  event: EventContent,
  { test }: { readonly test: boolean },
): EventMessage {
  const { position, subject, number, type, data, actor, apiKey, createdAt } = event;
  return create(EventSchema, {
    id: writeEventId({ subject, number }),
    type,
    timestamp: timestampFromDate(createdAt),
    number,
    position: BigInt(position),
    test,
    ...(actor ? { actor } : {}),
    ...(apiKey ? { apiKey: { ...apiKey, name: apiKey.name ?? undefined } } : {}),
    ...(type.startsWith("shipment.")
      ? { shipment: subject, data: fromJson(ShipmentSchema, data, LENIENT) }
      : { webhook: fromJson(WebhookSchema, data, LENIENT) }),
  });
}

/** Upper bound for an event's size without its data, including null fields in the JSON of `/v1`. */
const WITHOUT_DATA = 2 * 1024;

/** Returns the maximum size of an event in a response, in any format. */
export function eventBytes({ data }: Pick<Event, "data">): number {
  return WITHOUT_DATA + jsonBytes(data);
}
