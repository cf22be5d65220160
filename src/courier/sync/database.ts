import type { Details } from "../run/acts.ts";
import type { QueuedAct } from "../run/queue.ts";
import type { Run } from "../run/shipment.ts";
import type { Connection } from "../run/verdict.ts";

type Pictures = Pick<Details, "photo" | "signature">;

export interface Session {
  readonly courier: { readonly id: string; readonly name: string; readonly locale: string | null };
  readonly workspace: { readonly name: string };
}

/** Single values, by key. */
interface Values {
  readonly session: Session;
  /** Whether a link is being opened. Until its session is stored, the cookie can belong to another courier. */
  readonly isOpening: boolean;
  readonly run: { readonly data: Run; readonly loadedAt: number };
  /** Result of the last call. */
  readonly connection: Connection;
  /** Difference between the service's clock and this device's clock, in milliseconds. */
  readonly clockOffsetMs: number;
  readonly language: string;
  readonly navigation: string;
  readonly isLocated: boolean;
}

let opened: Promise<IDBDatabase> | undefined;

/**
 * Runs a function in one transaction of this device's database. Everything that the function wrote is on disk when
 * the promise resolves.
 */
export async function transact<T>(
  mode: "readonly" | "readwrite",
  work: (transaction: ReturnType<typeof accessTo>) => Promise<T>,
): Promise<T> {
  opened ??= openDatabase();
  let transaction: IDBTransaction;
  try {
    transaction = (await opened).transaction(["acts", "pictures", "values"], mode, { durability: "strict" });
  } catch (error) {
    // The next transaction opens the database again. Some browsers lose it without an event.
    opened = undefined;
    throw error;
  }
  const written = new Promise<void>((resolve, reject) => {
    transaction.addEventListener("complete", () => resolve());
    transaction.addEventListener("abort", () => reject(transaction.error ?? new Error("The transaction was aborted.")));
  });
  const [result] = await Promise.all([work(accessTo(transaction)), written]);
  return result;
}

/** Access to the stores within one transaction. */
function accessTo(transaction: IDBTransaction) {
  const [acts, pictures, values] = ["acts", "pictures", "values"].map((name) => transaction.objectStore(name)) as [
    IDBObjectStore,
    IDBObjectStore,
    IDBObjectStore,
  ];
  return {
    list: () => resultOf<QueuedAct[]>(acts.getAll()),
    async add(act: Omit<QueuedAct, "seq">, taken: Pictures) {
      const seq = await resultOf(acts.add(act));
      if (Object.keys(taken).length > 0) pictures.add(taken, seq);
    },
    put: (act: QueuedAct) => void acts.put(act),
    remove(seq: number) {
      acts.delete(seq);
      pictures.delete(seq);
    },
    pictures: (seq: number) => resultOf<Pictures | undefined>(pictures.get(seq)),
    get: <K extends keyof Values>(key: K) => resultOf<Values[K] | undefined>(values.get(key)),
    set: <K extends keyof Values>(key: K, value: Values[K]) => void values.put(value, key),
    unset: (key: keyof Values) => void values.delete(key),
  };
}

function openDatabase(): Promise<IDBDatabase> {
  const request = indexedDB.open("courier", 1);
  request.addEventListener("upgradeneeded", () => {
    const { result } = request;
    result.createObjectStore("acts", { keyPath: "seq", autoIncrement: true });
    result.createObjectStore("pictures");
    result.createObjectStore("values");
  });
  return resultOf(request).then((database) => {
    // Browsers close databases of tabs in the background. The next transaction opens it again.
    database.addEventListener("close", () => (opened = undefined));
    return database;
  });
}

function resultOf<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener("success", () => resolve(request.result));
    request.addEventListener("error", () => reject(request.error ?? new Error("The database failed.")));
  });
}

const CHANNEL = "courier";
let sender: BroadcastChannel | undefined;

/** Announces a change of the database to all tabs of this device, including this one. */
export function announceChange(): void {
  sender ??= new BroadcastChannel(CHANNEL);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- channels have no target
  sender.postMessage(null);
}

export function onChange(listener: () => void): void {
  new BroadcastChannel(CHANNEL).addEventListener("message", listener);
}
