import type { AttemptReason } from "../domain/shipment/delivery-progress.ts";
import type { ShipmentStatus } from "../domain/shipment/shipment-state.ts";

/** Texts of the tracking page and emails in one language. Functions insert names and times unchanged. */
export interface TrackingTexts {
  readonly title: (sender: string) => string;
  readonly headline: Readonly<Record<ShipmentStatus, string>>;
  /** Name of each status in the list of steps. */
  readonly step: Readonly<Record<ShipmentStatus, string>>;
  readonly steps: string;
  readonly pickup: (window: string) => string;
  readonly delivery: (window: string) => string;
  /** Text for the estimated arrival of the courier. */
  readonly eta: (time: string) => string;
  /** Text for an estimated arrival that has passed. */
  readonly overdue: (time: string) => string;
  readonly atDoor: string;
  readonly courier: string;
  /** Text for the distance to the courier. */
  readonly away: (distance: string) => string;
  /** Text for the reason why the last delivery attempt failed. */
  readonly attempt: Readonly<Record<AttemptReason, string>>;
  readonly late: string;
  readonly reference: string;
  readonly area: string;
  readonly contact: string;
  readonly timeZone: (name: string) => string;
  /** Heading of the items in the shipment. */
  readonly items: string;
  readonly test: string;
  readonly missing: string;
  readonly missingReason: string;
  readonly busy: string;
  readonly busyReason: string;
  /** Texts for the verified recipient. */
  readonly open: {
    readonly digits: string;
    readonly show: string;
    /** Text of the button once there is a photo. */
    readonly showAll: string;
    readonly wrong: (triesLeft: number) => string;
    /** Text shown when no attempts are left. */
    readonly locked: string;
    readonly address: string;
    readonly photo: string;
    readonly instructions: string;
    readonly save: string;
    readonly saved: string;
    /** Text shown when the instructions are too long. */
    readonly invalid: string;
    /** Text shown when the instructions can no longer be changed. */
    readonly closed: string;
  };
  /** Additional texts for emails and for the unsubscribe page. */
  readonly mail: {
    /** Headline after a failed delivery attempt. */
    readonly attempted: string;
    /** Text for the PIN that the recipient gives to the courier. */
    readonly pin: (digits: string) => string;
    readonly follow: string;
    readonly why: (sender: string) => string;
    readonly stop: string;
    readonly mayStop: (sender: string) => string;
    readonly stopNow: string;
    readonly stopped: (sender: string) => string;
  };
}
