import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { useCall } from "./clients.ts";
import { connected } from "./connection.ts";
import { reloads } from "./use-action.ts";
import { problemOf, type Problem } from "./problem.ts";

export interface Query<T> {
  /** Data from the last successful load. Kept during a reload and after a failed one. */
  readonly data: T | undefined;
  readonly problem: Problem | undefined;
  readonly isLoading: boolean;
  /** Whether the data belongs to previous inputs. */
  readonly isOutdated: boolean;
  readonly reload: () => void;
}

/**
 * Loads data from the service. Reloads when an input changes, `reload` is called or the connection
 * returns. A change of inputs aborts the load in flight. `reload` waits for it, because frequent
 * events would otherwise abort every slow load.
 *
 *     const { data, problem } = useQuery(
 *       (signal) => shipments.getShipment({ shipment: reference }, { signal }),
 *       [shipments, reference],
 *     );
 */
export function useQuery<T>(load: (signal: AbortSignal) => Promise<T>, inputs: readonly unknown[]): Query<T> {
  const [state, setState] = useState<Omit<Query<T>, "reload" | "isOutdated">>({
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
  const loadedWith = useRef<readonly unknown[]>([]);
  const isOutdated = () => !inputs.every((input, i) => Object.is(input, loadedWith.current[i]));

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
        const problem = problemOf(error);
        setState(({ data }) => ({ data: isOutdated() ? undefined : data, problem, isLoading: false }));
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
  return { ...state, isOutdated: isOutdated(), reload };
}

/** Returns the query, as loading until each of the other queries has data or an error. */
export function shownWith<T>(query: Query<T>, ...others: readonly Query<unknown>[]): Query<T> {
  const isReady = others.every(({ data, problem }) => data !== undefined || problem !== undefined);
  return isReady ? query : { ...query, data: undefined, isLoading: true };
}

/**
 * Calls a read-only method. Reloads when the request changes or an action succeeds. With a
 * `version`, reloads only when the version changes. Without a request, makes no call.
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
  const load = async (signal: AbortSignal) => request && call(method, request, { signal, timeoutMs });
  const text = JSON.stringify(request, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value));
  const query = useQuery(load, [call, method, text, version]);
  const { reload } = query;
  useEffect(() => (version === undefined ? reloads.subscribe(reload) : undefined), [reload, version === undefined]);
  return query;
}

interface RpcOptions {
  readonly timeoutMs?: number;
  /** Value that changes with the response, such as an etag. Replaces the reload after each action. */
  readonly version?: unknown;
}

/** Calls `work`, if any, periodically while the page is visible. */
export function useRepeat(work: (() => void) | undefined, intervalMs: number): void {
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) work?.();
    }, intervalMs);
    return () => clearInterval(timer);
  }, [work, intervalMs]);
}

/** Reload interval of data shown beside all pages, in milliseconds. */
const FRAME_MS = 60_000;

/**
 * Loads data shown beside all pages. Reloads after each navigation and action, and every minute,
 * because no event reports its changes. Never outdated, because pages are inputs too.
 */
export function useFrameQuery<T>(load: (signal: AbortSignal) => Promise<T>, inputs: readonly unknown[]): Query<T> {
  const query = useQuery(load, inputs);
  useRepeat(query.reload, FRAME_MS);
  useEffect(() => reloads.subscribe(query.reload), [query.reload]);
  return { ...query, isOutdated: false };
}

export function useDebounced<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(() => value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}
