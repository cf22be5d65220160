import type { JsonObject } from "@bufbuild/protobuf";
import type { EntityManager } from "../../db/orm.ts";
import type { EventType } from "../../domain/event-type.ts";
import { Event } from "./event.entity.ts";

/** Whatever counts its own events. */
interface Subject {
  readonly workspace: number;
  eventCount: number;
}

/**
 * Writes, with the caller's unit of work, what happened to a subject whose row is locked or new:
 * the lock makes the numbers go up without gaps.
 *
 * @param name the shipment's reference, or the webhook's id
 * @param data the subject as the change left it
 */
export function recordEvent(
  tx: EntityManager,
  subject: Subject,
  name: string,
  event: { readonly type: EventType; readonly data: JsonObject; readonly at: Date },
): Event {
  subject.eventCount += 1;
  return tx.create(Event, {
    workspace: subject.workspace,
    subject: name,
    number: subject.eventCount,
    type: event.type,
    data: event.data,
    createdAt: event.at,
  });
}
