/**
 * The peer: Fastify with ajv and a response schema, the key checked against its SHA-256, and the
 * same domain code for coverage and price. Its environment gives TARIFF_FILE and API_KEY.
 */
import fastify from "fastify";
import { toMajor } from "../../../src/domain/pricing/money.ts";
import { quote, roundKm } from "../../../src/domain/pricing/pricing.ts";
import { announce } from "./announce.ts";
import { carriesKnownKey } from "./known-key.ts";
import { pricing } from "./peer-pricing.ts";

interface Body {
  pickup_lat: number;
  pickup_lng: number;
  dropoff_lat: number;
  dropoff_lng: number;
  weight_kg: number;
}

const latitude = { type: "number", minimum: -90, maximum: 90 } as const;
const longitude = { type: "number", minimum: -180, maximum: 180 } as const;
const nullableText = { type: ["string", "null"] } as const;
const amount = { type: "number" } as const;

const app = fastify({ logger: false, bodyLimit: 64 * 1024 });
app.post<{ Body: Body }>(
  "/v1/shipments/quote",
  {
    onRequest: async (request, reply) => {
      if (!carriesKnownKey(request.headers.authorization)) {
        return reply.code(401).send({ message: "The credential is unknown.", errors: {} });
      }
    },
    schema: {
      body: {
        type: "object",
        required: ["pickup_lat", "pickup_lng", "dropoff_lat", "dropoff_lng", "weight_kg"],
        properties: {
          pickup_lat: latitude,
          pickup_lng: longitude,
          dropoff_lat: latitude,
          dropoff_lng: longitude,
          weight_kg: { type: "number", minimum: 0.01 },
        },
      },
      response: {
        200: {
          type: "object",
          properties: {
            covered: { type: "boolean" },
            message: nullableText,
            failure_type: nullableText,
            distance_km: amount,
            distance_fee: amount,
            weight_fee: amount,
            base_fee: amount,
            subtotal: amount,
            total: amount,
            currency: { type: "string" },
          },
        },
      },
    },
  },
  async ({ body }) => {
    const result = quote(pricing, {
      pickup: { lat: body.pickup_lat, lng: body.pickup_lng },
      dropoff: { lat: body.dropoff_lat, lng: body.dropoff_lng },
      weightKg: body.weight_kg,
    });
    const { currency } = result;
    if (!result.covered) {
      const [{ failure, message }] = result.problems;
      const base_fee = toMajor(result.baseFeeMinor, currency);
      const zero = { distance_km: 0, distance_fee: 0, weight_fee: 0, subtotal: 0, total: 0 };
      return { covered: false, message, failure_type: failure, ...zero, base_fee, currency };
    }
    return {
      covered: true,
      message: null,
      failure_type: null,
      distance_km: roundKm(result.distanceKm),
      distance_fee: toMajor(result.distanceFeeMinor, currency),
      weight_fee: toMajor(result.weightFeeMinor, currency),
      base_fee: toMajor(result.baseFeeMinor, currency),
      subtotal: toMajor(result.subtotalMinor, currency),
      total: toMajor(result.totalMinor, currency),
      currency,
    };
  },
);
await app.ready();
announce(app.server);
