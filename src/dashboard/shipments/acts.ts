import type { Client } from "@connectrpc/connect";
import type {
  GetPaymentConnectionResponse,
  PaymentConnection,
} from "../../../gen/shipments/v1/payment_connection_service_pb.js";
import { type CancelReason, type Shipment, ShipmentStatus } from "../../../gen/shipments/v1/shipment_pb.js";
import type { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import type { Query } from "../api/use-query.ts";
import { numberOf, optionalTextOf } from "../ui/form-data.ts";
import { totalText } from "./newest-shipments.ts";
import { isPaidOnline } from "./shipment-badge.tsx";

export interface Act {
  readonly name: string;
  readonly key: string;
  /** Participle for messages such as "12 shipments are paid". */
  readonly participle: string;
  readonly isFor: (shipment: Shipment, connection: PaymentConnection | undefined) => boolean;
  readonly note: (shipments: readonly Shipment[]) => string;
  /** Whether the action is in the menu only. */
  readonly isInMenu?: boolean;
  readonly isDangerous?: boolean;
  readonly send: (
    client: Client<typeof ShipmentService>,
    shipments: readonly Shipment[],
    form: FormData,
    headers: Readonly<Record<"idempotency-key", string>>,
  ) => Promise<{
    /** One result per shipment, in the same order. */
    readonly results: readonly { readonly error?: { readonly message: string } | undefined }[];
  }>;
}

/** Assigns a courier, which has its own dialog. */
export const ASSIGN: Omit<Act, "send" | "note"> = {
  name: "Assign courier",
  key: "a",
  participle: "assigned",
  isFor: ({ status }) => status === ShipmentStatus.AWAITING_PICKUP || status === ShipmentStatus.IN_TRANSIT,
};

export type AnyAct = Act | typeof ASSIGN;

/** Actions that apply to several shipments at once. */
export const ACTS: readonly AnyAct[] = [
  ASSIGN,
  {
    name: "Record payments",
    key: "m",
    participle: "paid",
    isFor: (shipment, connection) =>
      shipment.status === ShipmentStatus.PENDING && !isPaidOnline({ shipment, connection }),
    note: (shipments) =>
      `Each is recorded as paid in full, ${totalText(shipments)} in total. Recorded payments cannot be removed.`,
    send: (client, shipments, _, headers) =>
      client.batchRecordPayments(
        {
          payments: shipments.map(({ reference, total, currency }) => ({
            shipment: reference,
            amount: total,
            currency,
          })),
        },
        { headers },
      ),
  },
  advance(
    "u",
    "Mark as picked up",
    "picked up",
    ShipmentStatus.AWAITING_PICKUP,
    "Confirm that the courier picked them up. After that, they can no longer be cancelled.",
  ),
  advance(
    "d",
    "Mark as delivered",
    "delivered",
    ShipmentStatus.IN_TRANSIT,
    "Confirm that they were delivered. After that, they can no longer be changed.",
  ),
  {
    name: "Remove courier",
    key: "r",
    participle: "unassigned",
    isInMenu: true,
    isFor: (shipment, connection) => shipment.courier !== undefined && ASSIGN.isFor(shipment, connection),
    note: () => "They have no courier until another one is assigned.",
    send: (client, shipments, _, headers) =>
      client.batchRemoveCouriers({ shipments: referencesOf(shipments) }, { headers }),
  },
  {
    name: "Cancel",
    key: "c",
    participle: "cancelled",
    isInMenu: true,
    isDangerous: true,
    isFor: ({ status }) => status === ShipmentStatus.PENDING || status === ShipmentStatus.AWAITING_PICKUP,
    note(shipments) {
      const paid = shipments.filter(({ status }) => status !== ShipmentStatus.PENDING);
      const { online = [], manual = [] } = Object.groupBy(paid, (it) => (it.paymentDetails ? "online" : "manual"));
      return [
        "This cannot be undone.",
        ...(online.length > 0 ? [`${totalText(online)} will be refunded.`] : []),
        ...(manual.length > 0
          ? [`Payments of ${totalText(manual)} were recorded by hand. Refund them yourself, then record the refunds.`]
          : []),
      ].join(" ");
    },
    send: (client, shipments, form, headers) =>
      client.batchCancelShipments(
        {
          shipments: referencesOf(shipments),
          reason: numberOf(form, "reason") as CancelReason | undefined,
          note: optionalTextOf(form, "note"),
        },
        { headers },
      ),
  },
];

function advance(key: string, name: string, participle: string, from: ShipmentStatus, note: string): Act {
  return {
    key,
    name,
    participle,
    isFor: ({ status }) => status === from,
    note: () => note,
    send: (client, shipments, _, headers) =>
      client.batchAdvanceShipments({ shipments: referencesOf(shipments), from }, { headers }),
  };
}

export type ConnectionQuery = Query<GetPaymentConnectionResponse>;

/** Returns the shipments that an action is possible for, or `undefined` until the connection is known. */
export function shipmentsFor(act: AnyAct, shipments: readonly Shipment[], connected: ConnectionQuery) {
  if (connected.data === undefined && connected.problem === undefined) return undefined;
  return shipments.filter((shipment) => act.isFor(shipment, connected.data?.data));
}

export function referencesOf(shipments: readonly Shipment[]): string[] {
  return shipments.map(({ reference }) => reference);
}
