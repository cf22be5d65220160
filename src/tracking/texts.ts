import type { AttemptReason } from "../domain/shipment/delivery-progress.ts";
import type { ShipmentStatus } from "../domain/shipment/shipment-state.ts";
import { de } from "./texts/de.ts";
import { en } from "./texts/en.ts";
import { es } from "./texts/es.ts";
import { fr } from "./texts/fr.ts";

/** What the page of a shipment says in one language. Names and times are put in as they are. */
export interface TrackingTexts {
  readonly title: (sender: string) => string;
  /** What is said first, by the state that it is in. */
  readonly headline: Readonly<Record<ShipmentStatus, string>>;
  /** What each state is called among the steps. */
  readonly step: Readonly<Record<ShipmentStatus, string>>;
  readonly steps: string;
  readonly pickup: (window: string) => string;
  readonly delivery: (window: string) => string;
  /** When the courier expects to be there. */
  readonly eta: (time: string) => string;
  /** The same once it has passed. */
  readonly overdue: (time: string) => string;
  readonly atDoor: string;
  readonly courier: string;
  /** How far away the courier is. */
  readonly away: (distance: string) => string;
  /** Why it was not delivered, when that was tried last. */
  readonly attempt: Readonly<Record<AttemptReason, string>>;
  readonly late: string;
  readonly reference: string;
  readonly area: string;
  readonly contact: string;
  readonly timeZone: (name: string) => string;
  readonly test: string;
  readonly missing: string;
  readonly missingWhy: string;
  readonly busy: string;
  readonly busyWhy: string;
  /** For whoever proves to be the recipient. */
  readonly open: {
    readonly digits: string;
    readonly show: string;
    readonly wrong: (triesLeft: number) => string;
    /** Shown once no tries are left. */
    readonly locked: string;
    readonly address: string;
    readonly photo: string;
  };
  /** What mails to recipients say besides, and the page that ends them. */
  readonly mail: {
    /** What is said first of an attempt that failed. */
    readonly attempted: string;
    /** What to tell the courier. */
    readonly pin: (digits: string) => string;
    readonly follow: string;
    readonly why: (sender: string) => string;
    readonly stop: string;
    readonly mayStop: (sender: string) => string;
    readonly stopNow: string;
    readonly stopped: (sender: string) => string;
  };
}

/** By their tags (RFC 5646); the first is for readers of none of them. */
export const TEXTS = { en, es, fr, de } satisfies Record<string, TrackingTexts>;

export type Language = keyof typeof TEXTS;
