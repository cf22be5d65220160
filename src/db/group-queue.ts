import { OverloadedError } from "./database-error.ts";

/** How long a member waits to be written at most, in milliseconds. */
const MAX_WAIT_MS = 2_000;
/** How often members that have waited too long are rejected, in milliseconds. */
const SWEEP_MS = 250;

/** A member that waits to be written, and the promise of its result. */
export interface Waiting<Member, Result> {
  readonly member: Member;
  /** When it has waited too long, on the clock of `performance.now()`. */
  readonly expiresAtMs: number;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/** Whether a member has waited too long. */
export function isLate({ expiresAtMs }: Pick<Waiting<unknown, unknown>, "expiresAtMs">): boolean {
  return expiresAtMs <= performance.now();
}

/** Rejects a member that has waited too long. */
export function rejectLate({ reject }: Pick<Waiting<unknown, unknown>, "reject">): void {
  reject(new OverloadedError());
}

/** Members that wait to be written, in the order in which they came. */
export interface GroupQueue<Member, Result> {
  hasMembers(): boolean;
  /**
   * Adds a member, and resolves with its result once whoever takes it settles it.
   *
   * @param deadlineMs when its caller stops waiting, on the clock of `performance.now()`
   * @throws OverloadedError when it is not taken by then, or within 2 seconds
   */
  add(member: Member, deadlineMs: number): Promise<Result>;
  /**
   * Takes the members of the next group, which whoever takes them must settle. Leaves out those
   * whose key is in flight.
   */
  takeGroup(): Waiting<Member, Result>[];
}

/**
 * Builds a queue.
 *
 * @param maxMembers how many a group takes
 * @param serializeBy members with the same key are never in flight at the same time
 */
export function createGroupQueue<Member, Result>(
  maxMembers: number,
  serializeBy: (member: Member) => string | undefined,
): GroupQueue<Member, Result> {
  const keysInFlight = new Set<string>();
  let waiting: Waiting<Member, Result>[] = [];
  let sweeping: NodeJS.Timeout | undefined;

  /** Frees the key before the member is settled, so that the next one with it can follow. */
  function holdKey(taken: Waiting<Member, Result>, key: string | undefined) {
    if (key === undefined) return taken;
    keysInFlight.add(key);
    const release = <T>(settle: (value: T) => void) => {
      return (value: T) => {
        keysInFlight.delete(key);
        settle(value);
      };
    };
    return { ...taken, resolve: release(taken.resolve), reject: release(taken.reject) };
  }

  function sweep(): void {
    const late = new Set(waiting.filter(isLate));
    waiting = waiting.filter((one) => !late.has(one));
    late.forEach(rejectLate);
    sweeping = waiting.length === 0 ? undefined : setTimeout(sweep, SWEEP_MS);
  }

  return {
    hasMembers: () => waiting.length > 0,
    add(member, deadlineMs) {
      const expiresAtMs = Math.min(deadlineMs, performance.now() + MAX_WAIT_MS);
      const { promise, resolve, reject } = Promise.withResolvers<Result>();
      waiting.push({ member, expiresAtMs, resolve, reject });
      sweeping ??= setTimeout(sweep, SWEEP_MS);
      return promise;
    },
    takeGroup() {
      const group: typeof waiting = [];
      const left: typeof waiting = [];
      for (const one of waiting) {
        const key = serializeBy(one.member);
        const isHeldUp = key !== undefined && keysInFlight.has(key);
        if (isHeldUp || isLate(one) || group.length === maxMembers) left.push(one);
        else group.push(holdKey(one, key));
      }
      waiting = left;
      return group;
    },
  };
}
