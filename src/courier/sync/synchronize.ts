import { isSuperseded } from "../run/acts.ts";
import { type QueuedAct, readyActs } from "../run/queue.ts";
import type { Run, Shipment } from "../run/shipment.ts";
import { type Answer, type Connection, CONNECTIONS, verdictOf } from "../run/verdict.ts";
import { call, exclusively } from "./call.ts";
import { announceChange, transact } from "./database.ts";
import { setConflict, settleCall } from "./outbox.ts";

/** Result of a synchronization. */
export interface Synchronized {
  readonly connection: Connection;
  /** Earliest time of the next attempt, if the service requested it. */
  readonly retryAfterMs?: number | undefined;
}

/**
 * Sends the queued acts in order, and then loads the run. If a link was opened without a response, loads the run first,
 * which shows the courier of the cookie. Only one tab or service worker does so at a time.
 */
export function synchronize(): Promise<Synchronized> {
  return exclusively(async () => {
    for (;;) {
      const [session, acts, isOpening] = await transact("readonly", (tx) =>
        Promise.all([tx.get("session"), tx.list(), tx.get("isOpening")]),
      );
      if (session === undefined) return { connection: "signed_out" };
      const act = isOpening === true ? undefined : readyActs(acts, session.courier.id)[0];
      const answer = act === undefined ? await loadRun() : await send(act);
      const verdict = verdictOf(answer);
      const connection = CONNECTIONS[verdict];
      await setConnection(connection);
      const isDone = act === undefined && (isOpening !== true || verdict !== "sent");
      if (isDone || connection !== "online") return { connection, retryAfterMs: answer?.retryAfterMs };
    }
  });
}

/** Sends the next call of an act, and records the result. Returns the response that decided it. */
async function send(act: QueuedAct): Promise<Answer | undefined> {
  const { name, body } = act.calls[act.sent]!;
  const pictures =
    name === "proof" || name === "attempts" ? await transact("readonly", (tx) => tx.pictures(act.seq)) : undefined;
  const key = act.sent === 0 ? act.id : `${act.id}-${act.sent}`;
  const path = `/v1/shipments/${act.shipment}`;
  const answer = await call(`${path}/${name}`, { ...body, ...pictures }, key);
  const verdict = verdictOf(answer);
  if (verdict === "sent") await settleCall(act, answer!.body!.data as Shipment);
  if (verdict !== "conflict") return answer;
  const current = await call(path);
  const currentVerdict = verdictOf(current);
  if (currentVerdict !== "sent" && currentVerdict !== "conflict") return current;
  const shipment = currentVerdict === "sent" ? (current!.body!.data as Shipment) : undefined;
  const { code = "", message = "", metadata } = answer!.body!;
  if (shipment !== undefined && isSuperseded(act.calls[act.sent]!, shipment)) await settleCall(act, shipment);
  else await setConflict(act, { code, message, metadata });
  return answer;
}

async function loadRun(): Promise<Answer | undefined> {
  const answer = await call("/v1/couriers/me/run");
  if (verdictOf(answer) !== "sent") return answer;
  const data = answer!.body!.data as Run;
  await transact("readwrite", async (tx) => {
    tx.set("run", { data, loadedAt: Date.now() });
    const [session, isOpening] = await Promise.all([tx.get("session"), tx.get("isOpening")]);
    if (isOpening !== true) return;
    tx.unset("isOpening");
    const { courier: id, courier_name: name, workspace_name: workspace } = data;
    if (session?.courier.id === id) return;
    tx.set("session", { courier: { id, name, locale: null }, workspace: { name: workspace } });
  });
  announceChange();
  return answer;
}

async function setConnection(connection: Connection): Promise<void> {
  const isChanged = await transact("readwrite", async (tx) => {
    const before = await tx.get("connection");
    if (before !== connection) tx.set("connection", connection);
    return before !== connection;
  });
  if (isChanged) announceChange();
}
