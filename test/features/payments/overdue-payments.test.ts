import { expect, test } from "vitest";
import { GetHealthResponseSchema } from "../../../gen/shipments/admin/v1/platform_report_service_pb.js";
import { PlatformReportService } from "../../../gen/shipments/admin/v1/platform_report_service_pb.js";
import { ANY_TIME, takeStep } from "../../support/bookings.ts";
import { inDialect } from "../../support/dialect.ts";
import { eventually } from "../../support/eventually.ts";
import { bookCheckout, startStripeService, untilShipment } from "../../support/stripe-service.ts";
import { UNEVEN_MS } from "./payment-scenarios.ts";
import { createPaymentWorker } from "./payment-worker.ts";

const MINUTE_MS = 60_000;

const setup = await startStripeService();
const { service, stripe, clock } = setup;
const work = createPaymentWorker(setup);
const workspace = await setup.connect();
const operator = await service.addOperator("viewer");

const payments = async () => (await service.request("/admin/v1/health", { apiKey: operator.key })).body.data.payments;

const NONE = { overdue_payments: 0, overdue_notices: 0, overdue_accounts: 0, payments: [] };

test("a refund without a response from Stripe is overdue after ten minutes, until it succeeds", async () => {
  const { reference, session } = await bookCheckout(setup, workspace);
  stripe.pay(session);
  await takeStep(service, workspace.apiKey, reference, "pay");
  stripe.dropEvents();
  expect(await payments()).toEqual(NONE);
  await stripe.goAway();
  await takeStep(service, workspace.apiKey, reference, "cancel");
  const overdue = await eventually("the refund to be overdue", async () => {
    clock.ms += MINUTE_MS + UNEVEN_MS;
    await work();
    const found = await payments();
    return found.overdue_payments > 0 && found.payments[0]?.failures >= 8 && found;
  });
  const [{ failures }] = overdue.payments;
  expect(overdue).toEqual({
    ...NONE,
    overdue_payments: 1,
    payments: [{ workspace: workspace.id, shipment: reference, failures, due_at: ANY_TIME }],
  });
  const grpc = service.grpcClient(operator.key, PlatformReportService);
  const byGrpc: any = inDialect(GetHealthResponseSchema, await grpc.getHealth({}));
  expect(byGrpc.data.payments).toMatchObject({ overdue_payments: 1 });
  const { body } = await service.request("/admin/v1/attention", { apiKey: operator.key });
  const slot = { unit: null, taken: null, capacity: null };
  const owner = { workspace: workspace.id, owner: "Test", operator: null, ...slot };
  expect(body.data).toEqual([
    {
      kind: "payment_overdue",
      count: 1,
      subjects: [{ ...owner, id: reference, name: null, at: ANY_TIME }],
    },
  ]);
  await stripe.comeBack();
  clock.ms += 10 * MINUTE_MS;
  await untilShipment(service, workspace.apiKey, reference, { payment_status: "refunded" });
  await eventually("no overdue payments", async () => (await payments()).overdue_payments === 0);
});

test("a checkout that Stripe refuses to expire is polled with increasing delays and becomes overdue", async () => {
  const { reference, session } = await bookCheckout(setup, workspace);
  const line = `POST /v1/checkout/sessions/${session}/expire`;
  const refused = stripe.fault(line, "refused", { times: 1_000 });
  await takeStep(service, workspace.apiKey, reference, "cancel");
  await eventually("the checkout to be overdue", async () => {
    clock.ms += MINUTE_MS + UNEVEN_MS;
    await work();
    return (await payments()).payments[0]?.failures >= 8;
  });
  refused.release();
  await eventually("no overdue payments", async () => {
    clock.ms += MINUTE_MS;
    await work();
    return (await payments()).overdue_payments === 0;
  });
  expect(stripe.books(workspace.account).sessions.get(session)!.status).toBe("expired");
});

test("metrics report overdue work by kind", async () => {
  const text = await eventually("the metrics to be updated", async () => {
    const metrics = (await service.request("/metrics")).text;
    return !/shipments_payments_overdue\{[^}]*\} NaN/.test(metrics) && metrics;
  });
  expect(text.match(/^shipments_payments_overdue.*$/gm)).toEqual([
    expect.stringMatching(/^shipments_payments_overdue\{kind="payments"\} \d+$/),
    expect.stringMatching(/^shipments_payments_overdue\{kind="notices"\} \d+$/),
    expect.stringMatching(/^shipments_payments_overdue\{kind="accounts"\} \d+$/),
  ]);
});
