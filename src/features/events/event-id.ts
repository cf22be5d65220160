/** What tells one event of a workspace from all others. */
export interface EventKey {
  /** The shipment's reference, or the webhook's id. */
  readonly subject: string;
  readonly number: number;
}

const EVENT_ID = /^evt_([A-Za-z0-9_-]{1,64})_([1-9][0-9]{0,8})$/;

/** The id of an event for callers. Has no full stop in it, as Standard Webhooks asks of ids. */
export function writeEventId({ subject, number }: EventKey): string {
  return `evt_${subject}_${number}`;
}

/** The event an id stands for; undefined when no event can have it. */
export function readEventId(id: string): EventKey | undefined {
  const [, subject, number] = EVENT_ID.exec(id) ?? [];
  return subject === undefined ? undefined : { subject, number: Number(number) };
}
