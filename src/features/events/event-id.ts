/** The key of an event within its workspace. */
export interface EventKey {
  /** The shipment's reference, or the webhook's id. */
  readonly subject: string;
  /** From 1 within the subject. */
  readonly number: number;
}

const EVENT_ID = /^evt_([A-Za-z0-9_-]{1,64})_([1-9][0-9]{0,8})$/;

/**
 * The public id of an event: `evt_<subject>_<number>`. Standard Webhooks forbids a full stop in it.
 */
export function writeEventId({ subject, number }: EventKey): string {
  return `evt_${subject}_${number}`;
}

/** The key in a public id; undefined when the text is not of that form. */
export function readEventId(id: string): EventKey | undefined {
  const [, subject, number] = EVENT_ID.exec(id) ?? [];
  return subject === undefined ? undefined : { subject, number: Number(number) };
}
