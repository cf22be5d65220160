import assert from "node:assert/strict";
import { create, toBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import {
  QuoteShipmentRequestSchema,
  QuoteShipmentResponseSchema,
} from "../../../gen/shipments/v1/quote_pb.js";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { startOurs, startPeer, type Contestant } from "../contestant.ts";
import type { Server } from "../database.ts";
import { runH2load, type H2Load } from "../load/h2load.ts";
import { prepareQuotes } from "../prepare-quotes.ts";
import { interleave } from "../round.ts";
import { isInstalled } from "../run-command.ts";
import { SETTINGS } from "../settings.ts";
import { contestTable } from "../table.ts";
import { ROUTE } from "../shipments.ts";

const CONNECTIONS = 8;
const STREAMS = 8;
const REQUEST: MessageInitShape<typeof QuoteShipmentRequestSchema> = {
  pickupLat: ROUTE.pickup_lat,
  pickupLng: ROUTE.pickup_lng,
  dropoffLat: ROUTE.dropoff_lat,
  dropoffLng: ROUTE.dropoff_lng,
  weightKg: ROUTE.weight_kg,
};

/** The same quotes as by JSON, by gRPC. */
export async function quoteGrpc(server: Server): Promise<string> {
  if (!isInstalled("h2load")) return "Not measured: h2load is not installed.";
  await using owned = new AsyncDisposableStack();
  const { url, apiKey, environment } = await prepareQuotes(server, "quote_grpc");
  const ours = await startOurs(owned, { DATABASE_URL: url });
  const contestants = [
    { ...ours, url: ours.grpcUrl },
    await startPeer(owned, "@grpc/grpc-js", "grpc-js-quote.ts", environment),
    await startPeer(
      owned,
      "connect-node without key or field checks",
      "connect-grpc-quote.ts",
      environment,
    ),
  ];
  const answerBytes = await checkAnswers(contestants, apiKey);
  const measure = (contestant: Contestant) =>
    runH2load(contestant, loadOf(contestant.url, apiKey, answerBytes, server.folder));
  for (const contestant of contestants) await measure(contestant);
  const rounds = await interleave(contestants, measure);
  const standings = contestants.map(({ name }, i) => ({ name, rounds: rounds[i]! }));
  return contestTable([
    { load: `${CONNECTIONS} connections, ${STREAMS} calls at once on each`, standings },
  ]);
}

function loadOf(url: string, apiKey: string, answerBytes: number, folder: string): H2Load {
  return {
    url: `${url}/${ShipmentService.typeName}/QuoteShipment`,
    protocol: "HTTP/2",
    headers: {
      "content-type": "application/grpc",
      te: "trailers",
      authorization: `Bearer ${apiKey}`,
    },
    body: frame(toBinary(QuoteShipmentRequestSchema, create(QuoteShipmentRequestSchema, REQUEST))),
    answerBytes,
    connections: CONNECTIONS,
    streams: STREAMS,
    seconds: SETTINGS.seconds,
    folder,
  };
}

/**
 * A message as gRPC sends it: whether it is compressed, its length, itself (gRPC over HTTP2,
 * "Length-Prefixed-Message").
 */
function frame(message: Uint8Array): Uint8Array {
  const framed = Buffer.alloc(5 + message.length);
  framed.writeUInt32BE(message.length, 1);
  framed.set(message, 5);
  return framed;
}

/**
 * A real client must get the same answer from everybody: h2load does not see the status of a call.
 *
 * @returns the size of that answer, framed, in bytes
 */
async function checkAnswers(contestants: readonly Contestant[], apiKey: string): Promise<number> {
  const headers = { authorization: `Bearer ${apiKey}` };
  const answers = await Promise.all(
    contestants.map(({ url }) =>
      createClient(ShipmentService, createGrpcTransport({ baseUrl: url })).quoteShipment(REQUEST, {
        headers,
      }),
    ),
  );
  for (const [i, answer] of answers.entries()) {
    assert.deepEqual(answer, answers[0], contestants[i]!.name);
    assert.equal(answer.total, 12.69);
  }
  return frame(toBinary(QuoteShipmentResponseSchema, answers[0]!)).length;
}
