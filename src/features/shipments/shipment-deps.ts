import type { QuoteShipmentRequest } from "../../../gen/shipments/v1/quote_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import type { Reader } from "../../db/reader.ts";
import type { Problem } from "../../domain/refusal.ts";
import type { TariffCache } from "../tariffs/tariff-cache.ts";
import type { ChangeShipment } from "./change-shipment.ts";
import type { FindShipment } from "./find-shipment.ts";

/** What the functions of the shipment service work with. */
export interface ShipmentDeps {
  readonly em: EntityManager;
  readonly reader: Reader;
  readonly findShipment: FindShipment;
  readonly changeShipment: ChangeShipment;
  readonly tariffs: TariffCache;
  readonly now: () => Date;
  /**
   * Holds one route of a batch against the rules of its descriptor, together with what the door
   * could not read of it.
   *
   * @throws Refusal FIELD_INVALID
   */
  readonly validateQuote: (route: QuoteShipmentRequest, faults: readonly Problem[]) => void;
}
