import type { Shipment } from "../../../gen/shipments/v1/shipment_pb.js";

export interface Hit {
  readonly label: string;
  /** URL of the result. Omitted if `run` performs an action or `search` replaces the search text. */
  readonly href?: string;
  readonly run?: () => void;
  readonly search?: string;
  readonly note?: string | undefined;
  /** Matched fields that neither the label nor the note shows, with their values. */
  readonly matches?: readonly (readonly [field: string, value: string])[];
  readonly shipment?: Shipment;
}
