import { type CallOptions, type Client, ConnectError } from "@connectrpc/connect";
import { useRef } from "preact/hooks";
import { PaymentStatus, type Shipment } from "../../../gen/shipments/v1/shipment_pb.js";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { useClient } from "../api/clients.ts";
import { isLost } from "../api/problem.ts";
import { useQuery } from "../api/use-query.ts";
import { Dialog } from "../ui/dialog.tsx";
import { numberText, sumText } from "../ui/format.ts";
import { QueryView } from "../ui/page.tsx";
import { ActDialog, type RunProps } from "./act-dialog.tsx";
import { loadShipments } from "./newest-shipments.ts";

export type RefundAct = keyof typeof ACTS;

const ACTS = {
  record: {
    name: "Record all refunds",
    participle: "refunded",
    note: (shipments) =>
      `Confirms that the payments of the listed shipments were refunded, ${sumText(shipments)} in total. Recorded refunds cannot be removed.`,
    send: sendEach((client, shipment, options) => client.recordRefund({ shipment }, options)),
  },
  retry: {
    name: "Retry all refunds",
    participle: "being refunded again",
    note: (shipments) => `Retries the listed refunds at the payment provider, ${sumText(shipments)} in total.`,
    send: sendEach((client, shipment, options) => client.retryRefund({ shipment }, options)),
  },
} as const satisfies Readonly<Record<string, RunProps["act"]>>;

type Call = (client: Client<typeof ShipmentService>, shipment: string, options: CallOptions) => Promise<unknown>;

/** Returns a function that makes one call per shipment. A refusal does not stop the remaining calls. */
function sendEach(call: Call): RunProps["act"]["send"] {
  return async (client, shipments, _, headers) => {
    const results = [];
    for (const { reference } of shipments) {
      const options = {
        headers: { "idempotency-key": `${headers["idempotency-key"]}-${reference}` },
      };
      const error = await call(client, reference, options).then(
        () => undefined,
        (thrown: unknown) => ConnectError.from(thrown),
      );
      if (error && isLost(error)) throw error;
      results.push({ error: error && { message: error.rawMessage } });
    }
    return { results };
  };
}

/** Lists due refunds of one kind with their sum, and records or retries them all. */
export function RefundsDialog(props: {
  readonly act: RefundAct;
  /** References of the shipments on the page. */
  readonly named: readonly string[];
}) {
  const act = ACTS[props.act];
  const client = useClient(ShipmentService);
  const query = useQuery(
    async (signal) => {
      const filters = { paymentStatus: PaymentStatus.REFUND_PENDING, orderBy: "created_at" };
      const { shipments, isWhole } = await loadShipments(client, filters, signal);
      const isOfAct = (shipment: Shipment) => isOf(props.act, shipment) || props.named.includes(shipment.reference);
      return { shipments: shipments.filter(isOfAct), isWhole };
    },
    [client],
  );
  // The refunds that were listed first are recorded, even if the list reloads after a lost connection.
  const first = useRef(query.data);
  const data = (first.current ??= query.data);
  if (data === undefined || data.shipments.length === 0) {
    return (
      <Dialog title={act.name} submit="Close" run={async () => {}}>
        <QueryView query={query}>{() => <p>No refunds due.</p>}</QueryView>
      </Dialog>
    );
  }
  const { shipments, isWhole } = data;
  const note = () =>
    isWhole ? act.note(shipments) : `${act.note(shipments)} These are the oldest ${numberText(shipments.length)}.`;
  return <ActDialog isListed act={{ ...act, note }} {...{ shipments }} />;
}

/**
 * Whether the action applies to a refund. Providers record their refunds automatically, so only
 * their failed refunds are retried.
 */
function isOf(act: RefundAct, { paymentDetails }: Shipment): boolean {
  return act === "retry" ? paymentDetails?.refundError !== undefined : paymentDetails === undefined;
}
