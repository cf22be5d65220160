import type { Shipment } from "../../../gen/shipments/v1/shipment_pb.js";

export interface Hit {
  readonly label: string;
  /** URL of the result. Omitted if `run` performs an action instead. */
  readonly href?: string;
  readonly run?: () => void;
  readonly note?: string | undefined;
  readonly shipment?: Shipment;
}
