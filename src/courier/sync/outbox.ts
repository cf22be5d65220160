import { type ActCall, ACTS, allowedActs, type ActKind, type Details } from "../run/acts.ts";
import { type Conflict, type QueuedAct, withQueued } from "../run/queue.ts";
import type { Shipment } from "../run/shipment.ts";
import { announceChange, transact } from "./database.ts";

/** Stores an act for each shipment that allows it, with the current time by the service's clock. */
export async function queueAct(kind: ActKind, shipments: readonly string[], details: Details = {}): Promise<void> {
  const { photo, signature, ...entries } = details;
  const pictures = { ...(photo && { photo }), ...(signature && { signature }) };
  await transact("readwrite", async (tx) => {
    const session = await tx.get("session");
    if (session === undefined) throw new Error("There is no courier yet.");
    const at = new Date(Date.now() + ((await tx.get("clockOffsetMs")) ?? 0)).toISOString();
    const act = {
      courier: session.courier.id,
      kind,
      at,
      details: entries,
      hasPhoto: photo !== undefined,
      hasSignature: signature !== undefined,
      sent: 0,
    };
    const expected = withQueued((await tx.get("run"))?.data.shipments ?? [], await tx.list(), session.courier.id);
    // Another tab may have recorded the act, or the button was pressed twice.
    const isAllowed = (it: Shipment) => shipments.includes(it.reference) && allowedActs(it).includes(kind);
    for (const shipment of expected.filter(isAllowed)) {
      const calls = ACTS[kind]
        .calls(details, shipment)
        .map((it) => ({ ...it, body: withoutPictures({ ...it.body, occurred_at: at }) }));
      await tx.add({ ...act, id: newKey(), shipment: shipment.reference, calls }, pictures);
    }
  });
  announceChange();
}

function withoutPictures({ photo: _photo, signature: _signature, ...entries }: ActCall["body"]): ActCall["body"] {
  return entries;
}

/** Returns a random key of 128 bits. `randomUUID` exists only on HTTPS. */
function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Records that a call was confirmed. Stores the shipment that the service returned, if any. */
export async function settleCall(act: QueuedAct, shipment: Shipment | undefined): Promise<void> {
  await transact("readwrite", async (tx) => {
    const sent = act.sent + 1;
    if (sent < act.calls.length) tx.put({ ...act, sent });
    else tx.remove(act.seq);
    const run = await tx.get("run");
    if (run === undefined || shipment === undefined) return;
    const shipments = run.data.shipments.map((it) => (it.reference === shipment.reference ? shipment : it));
    tx.set("run", { ...run, data: { ...run.data, shipments } });
  });
  announceChange();
}

export async function setConflict(act: QueuedAct, conflict: Conflict): Promise<void> {
  await transact("readwrite", async (tx) => tx.put({ ...act, conflict }));
  announceChange();
}

/** Sends an act in conflict again, with a new key because the response to the old one is stored. */
export async function retryAct({ conflict: _conflict, ...act }: QueuedAct): Promise<void> {
  await transact("readwrite", async (tx) => tx.put({ ...act, id: newKey() }));
  announceChange();
}

export async function discardAct({ seq }: QueuedAct): Promise<void> {
  await transact("readwrite", async (tx) => tx.remove(seq));
  announceChange();
}
