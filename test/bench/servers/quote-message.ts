import { create } from "@bufbuild/protobuf";
import {
  QuoteFailureType,
  QuoteShipmentResponseSchema,
  type QuoteShipmentRequest,
  type QuoteShipmentResponse,
} from "../../../gen/shipments/v1/quote_pb.js";
import { toMajor } from "../../../src/domain/pricing/money.ts";
import { quote, roundKm } from "../../../src/domain/pricing/pricing.ts";
import { pricing } from "./peer-pricing.ts";

/** Prices a request whose fields are all there, with the same domain code as the product. */
export function quoteMessage(request: QuoteShipmentRequest): QuoteShipmentResponse {
  const result = quote(pricing, {
    pickup: { lat: request.pickupLat!, lng: request.pickupLng! },
    dropoff: { lat: request.dropoffLat!, lng: request.dropoffLng! },
    weightKg: request.weightKg!,
  });
  const { currency } = result;
  const baseFee = toMajor(result.baseFeeMinor, currency);
  if (!result.covered) {
    const [{ failure, message }] = result.problems;
    const failureType =
      failure === "coverage" ? QuoteFailureType.COVERAGE : QuoteFailureType.WEIGHT;
    return create(QuoteShipmentResponseSchema, { failureType, message, baseFee, currency });
  }
  return create(QuoteShipmentResponseSchema, {
    covered: true,
    distanceKm: roundKm(result.distanceKm),
    distanceFee: toMajor(result.distanceFeeMinor, currency),
    weightFee: toMajor(result.weightFeeMinor, currency),
    baseFee,
    subtotal: toMajor(result.subtotalMinor, currency),
    total: toMajor(result.totalMinor, currency),
    currency,
  });
}
