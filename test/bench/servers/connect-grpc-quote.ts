/**
 * The peer: connect-node's gRPC with the same domain code, and neither interceptors nor a check of
 * the key or the fields. Its environment gives TARIFF_FILE.
 */
import { createServer } from "node:http2";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { announce } from "./announce.ts";
import { quoteMessage } from "./quote-message.ts";

const handle = connectNodeAdapter({
  routes(router) {
    router.rpc(ShipmentService.method.quoteShipment, quoteMessage);
  },
});
announce(createServer(handle));
