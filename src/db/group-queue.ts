import { Overloaded } from "./database-error.ts";

/** How long a member waits for its turn at most, in milliseconds. */
const MAX_WAIT_MS = 2_000;
/** How often those who have waited for too long are turned away, in milliseconds. */
const SWEEP_MS = 250;

/** Somebody who waits to be written. */
export interface Waiting<Member, Result> {
  readonly member: Member;
  /** On the clock of `performance.now()`, in milliseconds. */
  readonly givesUpAtMs: number;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/** Whether somebody has waited for too long. */
export function isLate({ givesUpAtMs }: Pick<Waiting<unknown, unknown>, "givesUpAtMs">): boolean {
  return givesUpAtMs <= performance.now();
}

/** Tells somebody who has waited for too long. */
export function turnAway({ reject }: Pick<Waiting<unknown, unknown>, "reject">): void {
  reject(new Overloaded());
}

/** Members in the order in which they came. */
export interface GroupQueue<Member, Result> {
  /** Whether anybody waits. */
  some(): boolean;
  /**
   * Waits until the member has been written.
   *
   * @param deadlineMs when nobody will want it any more, on the clock of `performance.now()`
   * @throws Overloaded when its turn does not come by then, or within 2 seconds
   */
  wait(member: Member, deadlineMs: number): Promise<Result>;
  /**
   * Those whose turn it is; whoever takes them settles each of them. Nobody is taken while another
   * with the same key is under way.
   */
  takeGroup(): Waiting<Member, Result>[];
}

/**
 * Keeps the members that wait to be written in groups.
 *
 * @param maxMembers how many a group takes
 * @param keyOf members for which this is the same are never in one group, nor under way together
 */
export function createGroupQueue<Member, Result>(
  maxMembers: number,
  keyOf: (member: Member) => string | undefined,
): GroupQueue<Member, Result> {
  const keysUnderWay = new Set<string>();
  let waiting: Waiting<Member, Result>[] = [];
  let sweeping: NodeJS.Timeout | undefined;

  /** Gives the key free before anybody hears of the end. */
  function take(one: Waiting<Member, Result>, key: string | undefined): Waiting<Member, Result> {
    if (key === undefined) return one;
    keysUnderWay.add(key);
    return {
      ...one,
      resolve(result) {
        keysUnderWay.delete(key);
        one.resolve(result);
      },
      reject(error) {
        keysUnderWay.delete(key);
        one.reject(error);
      },
    };
  }

  /** Turns away those who have waited for too long. */
  function sweep(): void {
    const late = new Set(waiting.filter(isLate));
    waiting = waiting.filter((one) => !late.has(one));
    late.forEach(turnAway);
    sweeping = waiting.length === 0 ? undefined : setTimeout(sweep, SWEEP_MS);
  }

  return {
    some: () => waiting.length > 0,
    wait(member, deadlineMs) {
      const givesUpAtMs = Math.min(deadlineMs, performance.now() + MAX_WAIT_MS);
      const { promise, resolve, reject } = Promise.withResolvers<Result>();
      waiting.push({ member, givesUpAtMs, resolve, reject });
      sweeping ??= setTimeout(sweep, SWEEP_MS);
      return promise;
    },
    takeGroup() {
      const group: typeof waiting = [];
      const left: typeof waiting = [];
      for (const one of waiting) {
        const key = keyOf(one.member);
        const isHeldUp = key !== undefined && keysUnderWay.has(key);
        if (isHeldUp || isLate(one) || group.length === maxMembers) left.push(one);
        else group.push(take(one, key));
      }
      waiting = left;
      return group;
    },
  };
}
