/**
 * The peer: @grpc/grpc-js with protobuf-es, the key checked against its SHA-256, the field rules
 * written by hand, and the same domain code. Its environment gives TARIFF_FILE and API_KEY.
 */
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  Server,
  ServerCredentials,
  status,
  type handleUnaryCall,
  type ServiceDefinition,
} from "@grpc/grpc-js";
import {
  QuoteShipmentRequestSchema,
  QuoteShipmentResponseSchema,
  type QuoteShipmentRequest,
  type QuoteShipmentResponse,
} from "../../../gen/shipments/v1/quote_pb.js";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { announcePort } from "./announce.ts";
import { carriesKnownKey } from "./known-key.ts";
import { quoteMessage } from "./quote-message.ts";

const service: ServiceDefinition = {
  quoteShipment: {
    path: `/${ShipmentService.typeName}/QuoteShipment`,
    requestStream: false,
    responseStream: false,
    requestSerialize: (request: QuoteShipmentRequest) =>
      Buffer.from(toBinary(QuoteShipmentRequestSchema, request)),
    requestDeserialize: (bytes: Buffer) => fromBinary(QuoteShipmentRequestSchema, bytes),
    responseSerialize: (response: QuoteShipmentResponse) => {
      const { buffer, byteOffset, byteLength } = toBinary(QuoteShipmentResponseSchema, response);
      return Buffer.from(buffer, byteOffset, byteLength);
    },
    responseDeserialize: (bytes: Buffer) => fromBinary(QuoteShipmentResponseSchema, bytes),
  },
};

const quoteShipment: handleUnaryCall<QuoteShipmentRequest, QuoteShipmentResponse> = (
  { metadata, request },
  callback,
) => {
  const [authorization] = metadata.get("authorization");
  if (!carriesKnownKey(authorization as string | undefined)) {
    callback({ code: status.UNAUTHENTICATED, details: "The credential is unknown." });
  } else if (!isValid(request)) {
    callback({ code: status.INVALID_ARGUMENT, details: "A field is wrong." });
  } else {
    callback(null, quoteMessage(request));
  }
};

function isValid(request: QuoteShipmentRequest): boolean {
  return (
    isWithin(request.pickupLat, 90) &&
    isWithin(request.pickupLng, 180) &&
    isWithin(request.dropoffLat, 90) &&
    isWithin(request.dropoffLng, 180) &&
    Number.isFinite(request.weightKg) &&
    request.weightKg! >= 0.01
  );
}

function isWithin(degrees: number | undefined, bound: number): boolean {
  return degrees !== undefined && Math.abs(degrees) <= bound;
}

const server = new Server();
server.addService(service, { quoteShipment });
server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) => {
  if (error !== null) throw error;
  announcePort(port);
});
