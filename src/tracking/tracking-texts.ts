import type { AttemptReason } from "../domain/shipment/delivery-progress.ts";
import type { ShipmentStatus } from "../domain/shipment/shipment-state.ts";

/** Texts of the tracking page and emails in one language. Names and times are inserted unchanged. */
export interface TrackingTexts {
  readonly title: (sender: string) => string;
  /** Headline of each status. */
  readonly headline: Readonly<Record<ShipmentStatus, string>>;
  /** Name of each status in the list of steps. */
  readonly step: Readonly<Record<ShipmentStatus, string>>;
  readonly steps: string;
  readonly pickup: (window: string) => string;
  readonly delivery: (window: string) => string;
  /** Courier's estimated arrival. */
  readonly eta: (time: string) => string;
  /** Estimated arrival that has passed. */
  readonly overdue: (time: string) => string;
  readonly atDoor: string;
  readonly courier: string;
  /** Distance of the courier. */
  readonly away: (distance: string) => string;
  /** Reason of the last failed delivery. */
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
  /** Texts for the verified recipient. */
  readonly open: {
    readonly digits: string;
    readonly show: string;
    readonly wrong: (triesLeft: number) => string;
    /** Shown when no tries are left. */
    readonly locked: string;
    readonly address: string;
    readonly photo: string;
  };
  /** Additional texts of emails and of the unsubscribe page. */
  readonly mail: {
    /** Headline after a failed attempt. */
    readonly attempted: string;
    /** PIN for the courier. */
    readonly pin: (digits: string) => string;
    readonly follow: string;
    readonly why: (sender: string) => string;
    readonly stop: string;
    readonly mayStop: (sender: string) => string;
    readonly stopNow: string;
    readonly stopped: (sender: string) => string;
  };
}
