/** The JSON peer: Fastify with ajv and response schemas. With DEPLOYED=1 also with the usual parts of a deployment. */
import type { AddressInfo } from "node:net";
import fastify from "fastify";
import { advance, book, breakdownOf, cancel, get, list, pay, update } from "./bookings.ts";
import { priceOf, Refused, type Row, toDollars } from "./bookings.ts";
import { addDeployedParts, DEPLOYED_OPTIONS } from "./deployed.ts";
import * as schemas from "./fastify-schemas.ts";
import { announce, workspaceOf } from "./peer.ts";

type Request = { Params: { shipment: string }; Body: Row };
const ONE = "/v1/shipments/:shipment";

const WITHOUT_WINDOWS = { window_fee: 0, pickup_window: null, dropoff_window: null };

declare module "fastify" {
  interface FastifyRequest {
    workspace: number;
  }
}

const isDeployed = process.env["DEPLOYED"] === "1";
const app = fastify({ ...(isDeployed ? DEPLOYED_OPTIONS : { logger: false }), bodyLimit: 64 * 1024 });
if (isDeployed) await addDeployedParts(app);
app.decorateRequest("workspace", 0);
app.addHook("onRequest", async (request, reply) => {
  request.workspace = workspaceOf(request.headers.authorization) ?? 0;
  if (request.workspace === 0) {
    return reply.code(401).send({ message: "The credential is unknown.", errors: {} });
  }
});
app.setErrorHandler(async (error, _request, reply) =>
  reply.code(error instanceof Refused ? 422 : 500).send({ message: String(error), errors: {} }),
);

app.post<Request>("/v1/shipments/quote", { schema: schemas.quote }, async ({ body }) => {
  const price = {
    covered: true,
    message: null,
    failure_type: null,
    ...WITHOUT_WINDOWS,
    ...priceOf(body),
  };
  return withFees(price);
});
app.post<Request>("/v1/shipments", { schema: schemas.create }, async ({ workspace, body }, reply) =>
  reply.code(201).send({ data: shipmentOf(await book(workspace, body)) }),
);
app.get("/v1/shipments", { schema: schemas.page }, async ({ workspace }) => {
  const { page, nextPageToken } = await list(workspace);
  return { data: page.map(shipmentOf), next_page_token: nextPageToken };
});
app.get<Request>(ONE, { schema: schemas.shipment }, async ({ workspace, params }) => ({
  data: shipmentOf(await get(workspace, params.shipment)),
}));
app.patch<Request>(ONE, { schema: schemas.update }, async ({ workspace, params, body }) => ({
  data: shipmentOf(await update(workspace, params.shipment, body.metadata)),
}));
app.post<Request>(`${ONE}/cancel`, { schema: schemas.shipment }, async ({ workspace, params }) => ({
  data: shipmentOf(await cancel(workspace, params.shipment)),
}));
app.post<Request>(`${ONE}/advance`, { schema: schemas.shipment }, async ({ workspace, params }) => ({
  data: shipmentOf(await advance(workspace, params.shipment)),
}));
app.post<Request>(`${ONE}/payments`, { schema: schemas.pay }, async ({ workspace, params, body }) => {
  const { row, payment } = await pay(workspace, params.shipment, body);
  return { data: shipmentOf(row), payment };
});

/** Progress fields of a shipment without reports. */
const WITHOUT_PROGRESS = {
  courier: null,
  stage: null,
  pickup_eta: null,
  dropoff_eta: null,
  attempts: [],
  dropoff_verification: "none",
  dropoff_pin: null,
  proof: null,
};

/** Customer fields that shipments do not show. */
const HIDDEN = {
  phone: null,
  notes: null,
  default_pickup: null,
  default_dropoff: null,
  figures: null,
  etag: null,
};

/** Returns the response form of a shipment. The schema drops other fields. */
function shipmentOf(row: Row): Row {
  const { customer_id: id, name, email, id_number, version } = row;
  return {
    ...withFees(row),
    customer: { id, name, email, id_number, ...HIDDEN },
    etag: String(version),
    test: false,
    tracking_url: null,
    ...WITHOUT_WINDOWS,
    ...WITHOUT_PROGRESS,
    breakdown: breakdownOf(row),
  };
}

function withFees(row: Row): Row {
  return {
    ...row,
    distance_fee: toDollars(row.distance_fee_minor),
    weight_fee: toDollars(row.weight_fee_minor),
    base_fee: toDollars(row.base_fee_minor),
    subtotal: toDollars(row.subtotal_minor),
    total: toDollars(row.total_minor),
  };
}

await app.listen({ port: 0, host: "127.0.0.1" });
announce({ http: (app.server.address() as AddressInfo).port });
