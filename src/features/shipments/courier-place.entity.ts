import { defineEntity, p, type InferEntity } from "@mikro-orm/core";
import { Workspace } from "../workspaces/workspace.entity.ts";
import { ofShipment } from "./shipment.entity.ts";

/** Last position of a shipment's courier. Has its own table, because a new position does not change the shipment. */
export const CourierPlace = defineEntity({
  name: "CourierPlace",
  primaryKeys: ["workspace", "shipment"],
  properties: {
    workspace: () => p.manyToOne(Workspace).mapToPk().primary().updateRule("no action").deleteRule("no action"),
    shipment: () => ofShipment().deleteRule("cascade"),
    lat: p.double().$type<number>(),
    lng: p.double().$type<number>(),
    /** Real time of the measurement, even if the test clock is frozen. */
    measuredAt: p.datetime(3).index("courier_place_by_age"),
  },
});

export type CourierPlace = InferEntity<typeof CourierPlace>;
