/**
 * The peer: connect-node over HTTP/1.1, its own JSON, an interceptor that checks the key,
 * protovalidate for the fields, and the same domain code. Its environment gives TARIFF_FILE and
 * API_KEY.
 */
import { createServer } from "node:http";
import { createValidator } from "@bufbuild/protovalidate";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { QuoteShipmentRequestSchema } from "../../../gen/shipments/v1/quote_pb.js";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { announce } from "./announce.ts";
import { carriesKnownKey } from "./known-key.ts";
import { quoteMessage } from "./quote-message.ts";

const validator = createValidator();

const checkKey: Interceptor = (next) => (request) => {
  if (!carriesKnownKey(request.header.get("authorization") ?? undefined)) {
    throw new ConnectError("The credential is unknown.", Code.Unauthenticated);
  }
  return next(request);
};

const handle = connectNodeAdapter({
  interceptors: [checkKey],
  routes(router) {
    router.rpc(ShipmentService.method.quoteShipment, (request) => {
      const { kind } = validator.validate(QuoteShipmentRequestSchema, request);
      if (kind !== "valid") throw new ConnectError("A field is wrong.", Code.InvalidArgument);
      return quoteMessage(request);
    });
  },
});
announce(createServer(handle));
