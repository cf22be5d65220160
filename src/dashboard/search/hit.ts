import type { Shipment } from "../../../gen/shipments/v1/shipment_pb.js";

/** A search result. */
export interface Hit {
  readonly label: string;
  /** URL of the result, or else its action. */
  readonly href?: string;
  readonly run?: () => void;
  readonly note?: string | undefined;
  readonly shipment?: Shipment;
}
