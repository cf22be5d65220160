/** Upper limit for any server: node:http that only reads the body and returns a constant quote. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { announce } from "./peer.ts";

const ANSWER = JSON.stringify({
  covered: true,
  message: null,
  failure_type: null,
  distance_km: 9.532,
  distance_fee: 11.44,
  weight_fee: 1.25,
  base_fee: 5,
  subtotal: 12.69,
  total: 12.69,
  currency: "USD",
  pickup_window: null,
  dropoff_window: null,
  window_fee: 0,
});
const HEADERS = { "content-type": "application/json", "content-length": ANSWER.length };

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    JSON.parse(Buffer.concat(chunks).toString());
    response.writeHead(200, HEADERS).end(ANSWER);
  });
});
server.listen(0, "127.0.0.1", () => announce({ http: (server.address() as AddressInfo).port }));
