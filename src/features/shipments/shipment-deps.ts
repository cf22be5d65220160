import type { QuoteShipmentRequest } from "../../../gen/shipments/v1/quote_pb.js";
import type { CreateGroup } from "../../db/group-commit.ts";
import type { EntityManager } from "../../db/orm.ts";
import type { Violation } from "../../domain/refusal.ts";
import type { TariffCache } from "../tariffs/versions/tariff-cache.ts";
import type { ChangeShipment } from "./change-shipment.ts";
import type { FindShipment } from "./find-shipment.ts";

/** What the functions of the shipment service need. */
export interface ShipmentDeps {
  readonly em: EntityManager;
  readonly createGroup: CreateGroup;
  readonly findShipment: FindShipment;
  readonly changeShipment: ChangeShipment;
  readonly tariffs: TariffCache;
  readonly now: () => Date;
  /**
   * Validates one route of a batch by the rules of its descriptor.
   *
   * @param violations the errors of decoding it, which are reported along with those of validating it
   *
   * @throws Refusal FIELD_INVALID
   */
  readonly validateQuote: (route: QuoteShipmentRequest, violations: readonly Violation[]) => void;
}
