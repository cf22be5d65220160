/** The gRPC peer: @grpc/grpc-js with protobuf-es and handwritten field rules. */
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { DescMessage, DescMethodUnary, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Server, ServerCredentials, status, type handleUnaryCall } from "@grpc/grpc-js";
import { DropoffVerification } from "../../../gen/shipments/v1/courier_pb.js";
import { QuoteLineKind, QuoteLineUnit } from "../../../gen/shipments/v1/quote_pb.js";
import {
  DropoffHandover,
  PaymentStatus,
  ShipmentStatus,
  UndeliverableAction,
} from "../../../gen/shipments/v1/shipment_pb.js";
import type { ShipmentSchema } from "../../../gen/shipments/v1/shipment_pb.js";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { breakdownOf, get, list, messageFields, priceOf } from "./bookings.ts";
import { Refused, toDollars, type Row } from "./bookings.ts";
import { announce, workspaceOf } from "./peer.ts";

const server = new Server();
const { method } = ShipmentService;

serve(method.quoteShipment, async (request) => {
  const { pickupLat, pickupLng, dropoffLat, dropoffLng, weightKg } = request;
  const isValid =
    isWithin(pickupLat, 90) &&
    isWithin(pickupLng, 180) &&
    isWithin(dropoffLat, 90) &&
    isWithin(dropoffLng, 180) &&
    Number.isFinite(weightKg) &&
    weightKg! >= 0.01;
  if (!isValid) throw new Refused("A field is wrong.");
  const pickup = { pickup_lat: pickupLat, pickup_lng: pickupLng };
  const dropoff = { dropoff_lat: dropoffLat, dropoff_lng: dropoffLng };
  const price = priceOf({ ...pickup, ...dropoff, weight_kg: weightKg });
  return {
    covered: true,
    distanceKm: price.distance_km,
    distanceFee: toDollars(price.distance_fee_minor),
    weightFee: toDollars(price.weight_fee_minor),
    baseFee: toDollars(price.base_fee_minor),
    subtotal: toDollars(price.subtotal_minor),
    total: toDollars(price.total_minor),
    currency: price.currency,
  };
});
serve(method.getShipment, async ({ shipment }, workspace) => {
  if (shipment === "") throw new Refused("A field is missing.");
  return { data: shipmentOf(await get(workspace, shipment)) };
});
serve(method.listShipments, async (_request, workspace) => {
  const { page, nextPageToken } = await list(workspace);
  return { data: page.map(shipmentOf), nextPageToken };
});

function isWithin(degrees: number | undefined, bound: number): boolean {
  return degrees !== undefined && Math.abs(degrees) <= bound;
}

function shipmentOf(row: Row): MessageInitShape<typeof ShipmentSchema> {
  const { customer_id, name, email, id_number, cancelled_at } = row;
  return {
    ...messageFields(row),
    status: ShipmentStatus[row.status.toUpperCase() as keyof typeof ShipmentStatus],
    paymentStatus: PaymentStatus[row.payment_status.toUpperCase() as keyof typeof PaymentStatus],
    dropoffVerification: DropoffVerification.NONE,
    dropoffHandover: DropoffHandover.MEET,
    ifUndeliverable: UndeliverableAction.RETURN,
    customer: { id: BigInt(customer_id), name, email, idNumber: id_number ?? undefined },
    breakdown: breakdownOf(row).map(({ kind, unit, ...line }) => ({
      ...line,
      kind: QuoteLineKind[kind.toUpperCase() as keyof typeof QuoteLineKind],
      unit: QuoteLineUnit[unit.toUpperCase() as keyof typeof QuoteLineUnit],
    })),
    createdAt: timestampFromDate(row.created_at),
    updatedAt: timestampFromDate(row.updated_at),
    cancelledAt: cancelled_at === null ? undefined : timestampFromDate(cancelled_at),
  };
}

function serve<I extends DescMessage, O extends DescMessage>(
  { parent, name, input, output }: DescMethodUnary<I, O>,
  answer: (request: MessageShape<I>, workspace: number) => Promise<MessageInitShape<O>>,
): void {
  const handle: handleUnaryCall<MessageShape<I>, MessageShape<O>> = async (call, callback) => {
    try {
      const [authorization] = call.metadata.get("authorization");
      const workspace = workspaceOf(authorization as string | undefined);
      if (workspace === undefined) {
        callback({ code: status.UNAUTHENTICATED, details: "The credential is unknown." });
      } else callback(null, create(output, await answer(call.request, workspace)));
    } catch (error) {
      callback({ code: status.FAILED_PRECONDITION, details: String(error) });
    }
  };
  const asBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array) => Buffer.from(buffer, byteOffset, byteLength);
  const definition = {
    path: `/${parent.typeName}/${name}`,
    requestStream: false,
    responseStream: false,
    requestSerialize: (request: MessageShape<I>) => asBuffer(toBinary(input, request)),
    requestDeserialize: (bytes: Buffer) => fromBinary(input, bytes),
    responseSerialize: (response: MessageShape<O>) => asBuffer(toBinary(output, response)),
    responseDeserialize: (bytes: Buffer) => fromBinary(output, bytes),
  };
  server.addService({ [name]: definition }, { [name]: handle });
}

server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) => {
  if (error !== null) throw error;
  announce({ grpc: port });
});
