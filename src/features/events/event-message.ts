import { create, fromJson } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { EventSchema, type Event as EventMessage } from "../../../gen/shipments/v1/event_pb.js";
import { ShipmentSchema } from "../../../gen/shipments/v1/shipment_pb.js";
import { WebhookSchema } from "../../../gen/shipments/v1/webhook_pb.js";
import { jsonBytes } from "../../pipeline/page.ts";
import { writeEventId } from "./event-id.ts";
import type { Event } from "./event.entity.ts";

/** An old event may have a field that has been removed since. */
const LENIENT = { ignoreUnknownFields: true };

/** What callers see of an event. */
export type EventContent = Pick<
  Event,
  "subject" | "number" | "type" | "data" | "actor" | "createdAt"
>;

/** An event as callers see it. */
export function eventMessage(event: EventContent): EventMessage {
  const { subject, number, type, data, actor, createdAt } = event;
  return create(EventSchema, {
    id: writeEventId({ subject, number }),
    type,
    timestamp: timestampFromDate(createdAt),
    number,
    ...(actor ? { actor } : {}),
    ...(type.startsWith("shipment.")
      ? { shipment: subject, data: fromJson(ShipmentSchema, data, LENIENT) }
      : { webhook: fromJson(WebhookSchema, data, LENIENT) }),
  });
}

/** More than an event takes beyond its data, which has fields that are null in the JSON of `/v1`. */
const WITHOUT_DATA = 2 * 1024;

/** The most bytes that an event takes in an answer, in whatever form. */
export function eventBytes({ data }: Event): number {
  return WITHOUT_DATA + jsonBytes(data);
}
