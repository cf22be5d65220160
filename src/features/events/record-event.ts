import type { JsonObject } from "@bufbuild/protobuf";
import type { EntityManager } from "../../db/orm.ts";
import type { EventType } from "../../domain/event-type.ts";
import { Event } from "./event.entity.ts";

/** What events are about; it counts its events. */
interface Subject {
  readonly workspace: number;
  eventCount: number;
}

/**
 * Adds an event to the caller's unit of work. The subject's row must be locked or new, so that
 * event numbers go up without gaps.
 *
 * @param name the subject's name, such as the webhook's id
 * @param event its `data` is the subject after the change, as protobuf JSON
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
