/**
 * What goes wrong with a request:
 * - `unreached`: the connection breaks before Stripe has done anything;
 * - `lost`: Stripe has done it, and the connection breaks instead of the answer;
 * - `cut`: the same, amid the answer, so that the package's client does not repeat the request;
 * - `garbled`: Stripe has done it, and `{}` comes instead of the answer, as by something in between;
 * - `dripping`: the same, of which a byte comes now and then, without end;
 * - `rateLimited`: 429, nothing is done;
 * - `failed`: 500, nothing is done, and a key gives the same again for a day;
 * - `held`: it waits, begun but not done, until it is released.
 */
export type Fault =
  | "unreached"
  | "lost"
  | "cut"
  | "garbled"
  | "dripping"
  | "rateLimited"
  | "failed"
  | "held";

/** A fault that requests are still to meet. */
export interface PendingFault {
  /** Resolves when a request has met it. */
  readonly met: Promise<void>;
  /** Lets the requests that are held, and those that would be, go on. */
  release(): void;
}

interface Planned {
  readonly line: string;
  readonly fault: Fault;
  left: number;
  readonly meet: () => void;
  readonly released: Promise<void>;
}

/** Faults that were asked for, by the requests that are to meet them. */
export class Faults {
  readonly #planned: Planned[] = [];

  /**
   * @param line method and beginning of the path, such as `POST /v1/refunds`
   * @param times how many requests meet it
   */
  plan(line: string, fault: Fault, times: number): PendingFault {
    const met = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const planned = { line, fault, left: times, meet: met.resolve, released: released.promise };
    this.#planned.push(planned);
    return {
      met: met.promise,
      release() {
        planned.left = 0;
        released.resolve();
      },
    };
  }

  /** What this request meets; undefined for nothing. */
  take(line: string): { readonly fault: Fault; readonly released: Promise<void> } | undefined {
    const planned = this.#planned.find((one) => one.left > 0 && line.startsWith(one.line));
    if (planned === undefined) return undefined;
    planned.left--;
    planned.meet();
    return planned;
  }
}
