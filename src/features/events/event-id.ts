/** The key of an event within its workspace. */
export interface EventKey {
  /** The shipment's reference, or the webhook's id. */
  readonly subject: string;
  /** From 1 within the subject. */
  readonly number: number;
}

const EVENT_ID = /^evt_([A-Za-z0-9_-]{1,64})_([1-9][0-9]{0,8})$/;
const SUBJECT = /^[A-Za-z0-9_-]{1,64}$/;
/** The largest value of an `integer` in PostgreSQL. */
const MAX_NUMBER = 2 ** 31 - 1;

/** Whether a value is of the form of an event's subject. */
export function isSubject(value: unknown): value is string {
  return typeof value === "string" && SUBJECT.test(value);
}

/** Whether a value can be an event's number within its subject. */
export function isEventNumber(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) > 0 && (value as number) <= MAX_NUMBER;
}

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
