import type { QuoteShipmentRequest } from "../../../gen/shipments/v1/quote_pb.js";
import type { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import type { Call } from "../../pipeline/call.ts";
import type { ServiceFunctions } from "../../pipeline/rpc.ts";
import type { ValidateRoute } from "../quotes/quote-each.ts";
import type { TariffCache } from "../tariffs/versions/tariff-cache.ts";
import type { TestTimes } from "../workspaces/test-clock.ts";
import type { ChangeBatch } from "./change-batch.ts";
import type { ChangeShipment, GroupDeps } from "./change-shipment.ts";
import type { FindShipment } from "./find-shipment.ts";
import type { PictureBucket } from "./picture-bucket.ts";
import type { PaymentsOfShipments } from "./provider-check.ts";

export interface ShipmentDeps extends GroupDeps {
  readonly em: EntityManager;
  readonly findShipment: FindShipment;
  readonly changeShipment: ChangeShipment;
  readonly changeBatch: ChangeBatch;
  readonly tariffs: TariffCache;
  readonly payments: PaymentsOfShipments;
  readonly testTimes: TestTimes;
  /** Bucket for pictures. `undefined` if pictures stay in the database. */
  readonly bucket: PictureBucket | undefined;
  readonly validateQuote: ValidateRoute<QuoteShipmentRequest>;
}

export type ShipmentFunctions<Deps = ShipmentDeps> = ServiceFunctions<typeof ShipmentService, Call, Deps>;
