import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Account } from "../bench/database.ts";
import { BOOKING, COVERED_ROUTE } from "../support/bookings.ts";

/** Number of slots, of one hour each. */
const SLOTS = 20;
export const CAPACITY = 5;
/** Shipments that a client keeps at the same time. */
const KEPT = 3;
/** Mean pause between two calls of a client, in milliseconds. */
const PAUSE_MS = 500;
/** One in this many requests is abandoned and repeated. */
const ABANDON = 10;
/** Time after which the place of an interrupted call is certainly free, in milliseconds. */
const RECLAIM_MS = 90_000;
/** Codes of responses after which a request is repeated. */
const REPEATED = ["UNAVAILABLE", "IDEMPOTENCY_KEY_IN_USE", "REQUEST_TIMEOUT"];
const HOUR_MS = 3_600_000;
const FIRST_MS = Math.ceil(Date.now() / (24 * HOUR_MS) + 1) * 24 * HOUR_MS;

/** A place that a shipment or a hold may have had, in milliseconds since the epoch. */
interface Presence {
  readonly holder: string;
  readonly slot: number;
  readonly fromMs: number;
  toMs: number;
}

interface FullSlot {
  readonly slot: number;
  readonly fromMs: number;
  readonly toMs: number;
}

interface Outcome {
  readonly status: number;
  readonly body: any;
  readonly fromMs: number;
  readonly toMs: number;
  /** Whether an earlier attempt had no response, or an unavailable server. */
  readonly isInterrupted: boolean;
}

/** Calls, their outcomes and the places that they may have taken. */
export class History {
  readonly presences: Presence[] = [];
  readonly full: FullSlot[] = [];
  /**
   * External references of shipments whose last call was refused after an attempt without a response. The server may
   * have executed that attempt after the refusal.
   */
  readonly uncertain = new Set<string>();
  readonly counts = new Map<string, number>();
  readonly unexpected: string[] = [];

  count(name: string): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1);
  }

  /** Records that a holder may have a place from the start of a call. */
  take(holder: string, slot: number, { fromMs }: Pick<Outcome, "fromMs">, toMs = Infinity): Presence {
    const presence = { holder, slot, fromMs, toMs };
    this.presences.push(presence);
    return presence;
  }

  /** Records that a hold ends soon, unless it was booked. */
  expire(holder: string): void {
    const hold = this.presences.find((it) => it.holder === holder);
    if (hold?.toMs === Infinity) hold.toMs = Date.now() + RECLAIM_MS;
  }

  /** Counts a refusal. A call that was refused for another reason may have reserved a place for a while. */
  refuse(operation: string, slot: number, outcome: Outcome): void {
    const { status, body, fromMs, toMs } = outcome;
    this.count(`${operation} ${body?.code ?? status}`);
    if (body?.code === "SLOT_FULL") this.full.push({ slot, fromMs, toMs });
    else if (status >= 500 || body?.code !== "SHIPMENT_STATE")
      this.unexpected.push(`${operation}: ${JSON.stringify(body)}`);
    if (body?.code !== "SLOT_FULL" || outcome.isInterrupted) {
      this.take(randomUUID(), slot, outcome, toMs + RECLAIM_MS);
    }
  }

  /** Returns the refusals that no set of places can have caused. */
  unjustified(): FullSlot[] {
    return this.full.filter(({ slot, fromMs, toMs }) => {
      const holders = this.presences.filter((it) => it.slot === slot && it.fromMs <= toMs && it.toMs >= fromMs);
      return new Set(holders.map(({ holder }) => holder)).size < CAPACITY;
    });
  }
}

interface Kept {
  readonly reference: string;
  readonly externalReference: string;
  presence: Presence;
}

/** A client that makes random calls one after the other. */
export class SlotClient {
  kept: readonly Kept[] = [];
  readonly #account: Account;
  readonly #ports: readonly number[];
  readonly #history: History;

  constructor(account: Account, ports: readonly number[], history: History) {
    this.#account = account;
    this.#ports = ports;
    this.#history = history;
  }

  /** Returns the references of the shipments that the client keeps, with the start of their windows. */
  get acknowledged(): string[] {
    return this.kept.map(({ reference, presence }) => `${reference} ${startMsOf(presence.slot)}`);
  }

  async run(untilMs: number): Promise<void> {
    while (Date.now() < untilMs) {
      const draw = Math.random();
      if (this.kept.length === 0 || (draw < 0.3 && this.kept.length < KEPT)) await this.#book();
      else if (draw < 0.5 && this.kept.length < KEPT) await this.#hold();
      else if (draw < 0.8) await this.#move();
      else await this.#cancel();
      await sleep(2 * PAUSE_MS * Math.random());
    }
  }

  async #book(quote?: { readonly id: string; readonly slot: number; readonly hold: Presence }): Promise<void> {
    const slot = quote?.slot ?? randomSlot();
    const externalReference = randomUUID();
    const window = quote === undefined ? { pickup_window: windowOf(slot) } : { quote_id: quote.id };
    const outcome = await this.#send("POST", "/v1/shipments", {
      ...BOOKING,
      ...window,
      external_reference: externalReference,
    });
    if (outcome.status !== 201) return this.#refuse("book", slot, outcome, { externalReference });
    this.#history.count("book");
    const { reference } = outcome.body.data;
    if (quote !== undefined) leave(quote.hold, outcome);
    const presence = this.#history.take(quote?.id ?? reference, slot, outcome);
    this.kept = [...this.kept, { reference, externalReference, presence }];
    if (outcome.isInterrupted) this.#history.take(randomUUID(), slot, outcome, outcome.toMs + RECLAIM_MS);
  }

  /** Holds the slot of a quote, and books with two of three quotes. */
  async #hold(): Promise<void> {
    const slot = randomSlot();
    const quoted = await this.#send("POST", "/v1/quotes", { ...COVERED_ROUTE, pickup_window: windowOf(slot) });
    const { id } = quoted.body;
    if (quoted.status !== 201) return this.#refuse("quote", slot, quoted);
    const outcome = await this.#send("POST", "/v1/quotes/hold", { quote_id: id });
    if (outcome.status !== 200) return this.#refuse("hold", slot, outcome);
    this.#history.count("hold");
    const hold = this.#history.take(id, slot, outcome);
    if (Math.random() < 2 / 3) await this.#book({ id, slot, hold });
  }

  async #move(): Promise<void> {
    const kept = this.#random();
    const slot = randomSlot();
    const outcome = await this.#send("PATCH", `/v1/shipments/${kept.reference}`, { pickup_window: windowOf(slot) });
    if (outcome.status !== 200) return this.#refuse("move", slot, outcome, kept);
    this.#history.count("move");
    if (slot === kept.presence.slot) return;
    leave(kept.presence, outcome);
    kept.presence = this.#history.take(kept.reference, slot, outcome);
  }

  async #cancel(): Promise<void> {
    const kept = this.#random();
    const outcome = await this.#send("POST", `/v1/shipments/${kept.reference}/cancel`, {});
    if (outcome.status !== 200) return this.#refuse("cancel", kept.presence.slot, outcome, kept);
    this.#history.count("cancel");
    leave(kept.presence, outcome);
    this.kept = this.kept.filter((it) => it !== kept);
  }

  /** Records a refusal. Gives up a shipment whose state is uncertain, and cancels it if it exists. */
  async #refuse(
    operation: string,
    slot: number,
    outcome: Outcome,
    shipment?: Pick<Kept, "externalReference">,
  ): Promise<void> {
    this.#history.refuse(operation, slot, outcome);
    if (shipment === undefined || !outcome.isInterrupted) return;
    const { externalReference } = shipment;
    this.#history.uncertain.add(externalReference);
    this.kept = this.kept.filter((it) => it !== shipment);
    const { body } = await this.#send("GET", `/v1/shipments?external_reference=${externalReference}`);
    for (const { reference, status } of body.data) {
      if (status !== "cancelled") await this.#send("POST", `/v1/shipments/${reference}/cancel`, {});
    }
  }

  #random(): Kept {
    return this.kept[Math.floor(Math.random() * this.kept.length)]!;
  }

  /** Sends a request to random replicas until one gives a definite response. */
  async #send(method: string, path: string, body?: object): Promise<Outcome> {
    const fromMs = Date.now();
    const headers = {
      authorization: `Bearer ${this.#account.apiKey}`,
      ...(body && { "content-type": "application/json", "idempotency-key": randomUUID() }),
    };
    for (let isInterrupted = false; ; isInterrupted = true) {
      const isAbandoned = !isInterrupted && Math.random() < 1 / ABANDON;
      const signal = AbortSignal.timeout(isAbandoned ? Math.ceil(Math.random() * 40) : 60_000);
      const port = this.#ports[Math.floor(Math.random() * this.#ports.length)]!;
      const url = `http://127.0.0.1:${port}${path}`;
      const request = { method, headers, signal, ...(body && { body: JSON.stringify(body) }) };
      const response = await fetch(url, request).catch(() => undefined);
      const text = await response?.text().catch(() => undefined);
      const answer = text === undefined ? undefined : JSON.parse(text);
      const isDefinite = answer !== undefined && !REPEATED.includes(answer.code);
      if (isDefinite) return { status: response!.status, body: answer, fromMs, toMs: Date.now(), isInterrupted };
      this.#history.count(answer === undefined ? "no response" : answer.code);
      await sleep(100);
    }
  }
}

function leave(presence: Presence, { toMs, isInterrupted }: Outcome): void {
  presence.toMs = isInterrupted ? toMs + RECLAIM_MS : toMs + 1_000;
}

function randomSlot(): number {
  return Math.floor(Math.random() * SLOTS);
}

function startMsOf(slot: number): number {
  return FIRST_MS + slot * HOUR_MS;
}

function windowOf(slot: number) {
  const startMs = startMsOf(slot);
  return { start: new Date(startMs).toISOString(), end: new Date(startMs + HOUR_MS).toISOString() };
}
