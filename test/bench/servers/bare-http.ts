/** The limit: a bare node:http server that reads the body and echoes a constant quote. */
import { createServer } from "node:http";
import { announce } from "./announce.ts";

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
});

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    JSON.parse(Buffer.concat(chunks).toString());
    response.writeHead(200, {
      "content-type": "application/json",
      "content-length": Buffer.byteLength(ANSWER),
    });
    response.end(ANSWER);
  });
});
announce(server);
