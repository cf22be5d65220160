import type {
  DescMessage,
  DescMethodUnary,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { useCall } from "./clients.ts";
import { connected } from "./connection.ts";
import { reloads } from "./use-action.ts";
import { problemOf, type Problem } from "./problem.ts";

export interface Query<T> {
  /**
   * What was loaded last; still there while something is loaded, and after the same failed to be
   * reloaded.
   */
  readonly data: T | undefined;
  readonly problem: Problem | undefined;
  readonly isLoading: boolean;
  readonly reload: () => void;
}

/**
 * Loads something from the service, and again whenever one of the inputs changes, `reload` is called
 * or a lost connection is back. A load of other inputs is aborted; at `reload`, one that is in flight is
 * shown first, or what takes longer than the time between two events would never be.
 *
 *     const { data, problem } = useQuery(
 *       (signal) => shipments.getShipment({ shipment: reference }, { signal }),
 *       [shipments, reference],
 *     );
 */
export function useQuery<T>(
  load: (signal: AbortSignal) => Promise<T>,
  inputs: readonly unknown[],
): Query<T> {
  const [state, setState] = useState<Omit<Query<T>, "reload">>({
    data: undefined,
    problem: undefined,
    isLoading: true,
  });
  const [round, setRound] = useState(0);
  const start = useCallback(() => setRound((last) => last + 1), []);
  const inFlight = useRef<{ isRepeated: boolean }>(undefined);
  const reload = useCallback(() => {
    if (inFlight.current) inFlight.current.isRepeated = true;
    else start();
  }, [start]);
  const latest = useRef(load);
  latest.current = load;
  // What the data was loaded with: after a failure, data of other inputs would be taken for these.
  const loadedWith = useRef<readonly unknown[]>([]);

  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const own = (inFlight.current = { isRepeated: false });
    setState((before) => (before.isLoading ? before : { ...before, isLoading: true }));
    const loadOnce = async () => {
      try {
        const data = await latest.current(signal);
        if (signal.aborted) return;
        loadedWith.current = inputs;
        setState({ data, problem: undefined, isLoading: false });
      } catch (error) {
        if (signal.aborted) return;
        const isSame = inputs.every((input, i) => Object.is(input, loadedWith.current[i]));
        const problem = problemOf(error);
        setState(({ data }) => ({ data: isSame ? data : undefined, problem, isLoading: false }));
      } finally {
        if (inFlight.current === own) inFlight.current = undefined;
        if (!signal.aborted && own.isRepeated) start();
      }
    };
    void loadOnce();
    return () => controller.abort();
  }, [...inputs, round]);

  useEffect(
    () =>
      connected.subscribe(() => {
        if (connected.get()) start();
      }),
    [start],
  );
  return { ...state, reload };
}

/** A query that counts as loading until others, which its view needs too, have answered or failed once. */
export function shownWith<T>(query: Query<T>, ...others: readonly Query<unknown>[]): Query<T> {
  const isReady = others.every(({ data, problem }) => (data ?? problem) !== undefined);
  return isReady ? query : { ...query, data: undefined, isLoading: true };
}

/**
 * The response of a call that changes nothing, loaded again when the request is another or an action succeeded; with
 * a `version`, when that is another instead. None is loaded without a request:
 *
 *     const query = useRpc(ShipmentService.method.getShipment, { shipment: reference });
 */
export function useRpc<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  request: MessageInitShape<I>,
  options?: RpcOptions,
): Query<MessageShape<O>>;
export function useRpc<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  request: MessageInitShape<I> | undefined,
  options?: RpcOptions,
): Query<MessageShape<O> | undefined>;
export function useRpc<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  request: MessageInitShape<I> | undefined,
  { timeoutMs, version }: RpcOptions = {},
): Query<MessageShape<O> | undefined> {
  const call = useCall();
  const load = async (signal: AbortSignal) =>
    request && call(method, request, { signal, timeoutMs });
  const text = JSON.stringify(request, (_, value: unknown) =>
    typeof value === "bigint" ? String(value) : value,
  );
  const query = useQuery(load, [call, method, text, version]);
  const { reload } = query;
  useEffect(
    () => (version === undefined ? reloads.subscribe(reload) : undefined),
    [reload, version === undefined],
  );
  return query;
}

interface RpcOptions {
  readonly timeoutMs?: number;
  /** What else the response depends on, such as an etag, where nothing else makes it another. */
  readonly version?: unknown;
}

export function useRepeat(work: () => void, intervalMs: number): void {
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) work();
    }, intervalMs);
    return () => clearInterval(timer);
  }, [work, intervalMs]);
}

/** How often what all pages show is loaded anew while one stays open, in milliseconds. */
const FRAME_MS = 60_000;

/**
 * What stands beside all pages: loaded again with each page that is gone to, which is among the inputs, after whatever
 * the reader does, and every minute, since no event tells of it.
 */
export function useFrameQuery<T>(
  load: (signal: AbortSignal) => Promise<T>,
  inputs: readonly unknown[],
): Query<T> {
  const query = useQuery(load, inputs);
  useRepeat(query.reload, FRAME_MS);
  useEffect(() => reloads.subscribe(query.reload), [query.reload]);
  return query;
}

export function useDebounced<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(() => value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
