import { createContext } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import type { Run, Shipment } from "../run/shipment.ts";
import { type QueuedAct, withQueued } from "../run/queue.ts";
import type { Connection } from "../run/verdict.ts";
import { onChange, type Session, transact } from "../sync/database.ts";
import type { Point } from "../../domain/coverage/geo.ts";
import type { Texts } from "../texts/en.ts";
import { chooseLanguage, type Language } from "../texts/texts.ts";

/** Everything that this device has stored. */
export interface State {
  readonly session: Session | undefined;
  readonly run: Run | undefined;
  /** Shipments of the run with the queued acts applied. */
  readonly shipments: readonly Shipment[];
  readonly acts: readonly QueuedAct[];
  readonly connection: Connection;
  readonly language: Language;
  readonly navigation: string;
  readonly isLocated: boolean;
  readonly clockOffsetMs: number;
}

/** State and functions that all screens use. */
export interface App {
  readonly state: State;
  readonly t: Texts;
  /** Position of this device. Absent if the courier does not share it. */
  readonly position: Point | undefined;
  /** Current time by the service's clock. */
  readonly nowMs: number;
  /** Reads the stored state after a change. */
  reload(): Promise<void>;
  /** Sends the queue and loads the run. */
  synchronize(): void;
}

export const AppContext = createContext<App>(undefined as unknown as App);

export function useApp(): App {
  return useContext(AppContext);
}

/** Interval of reading the stored state again after an error. */
const RETRY_MS = 2_000;

/**
 * Returns the stored state, a function that reads it again, and whether the last read failed. The state is `undefined`
 * until it has been read.
 */
export function useStoredState(): readonly [State | undefined, () => Promise<void>, boolean] {
  const [state, setState] = useState<State>();
  const [isFailed, setFailed] = useState(false);
  const reload = async () => {
    try {
      setState(await readState());
      setFailed(false);
    } catch {
      setFailed(true);
    }
  };
  useEffect(() => {
    onChange(reload);
    void reload();
  }, []);
  useEffect(() => {
    if (!isFailed) return undefined;
    const timer = setInterval(reload, RETRY_MS);
    return () => clearInterval(timer);
  }, [isFailed]);
  return [state, reload, isFailed];
}

function readState(): Promise<State> {
  return transact("readonly", async (tx) => {
    const [session, run, acts, connection, chosen] = await Promise.all([
      tx.get("session"),
      tx.get("run"),
      tx.list(),
      tx.get("connection"),
      tx.get("language"),
    ]);
    return {
      session,
      run: run?.data,
      acts,
      shipments: withQueued(run?.data.shipments ?? [], acts, session?.courier.id ?? ""),
      connection: connection ?? "online",
      language: chooseLanguage([chosen, session?.courier.locale, ...navigator.languages]),
      navigation: (await tx.get("navigation")) ?? (/iPhone|iPad|Mac/.test(navigator.userAgent) ? "apple" : "geo"),
      isLocated: run?.data.wants_location === true && ((await tx.get("isLocated")) ?? false),
      clockOffsetMs: (await tx.get("clockOffsetMs")) ?? 0,
    };
  });
}
