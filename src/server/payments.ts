import type { Logger } from "pino";
import type { CreateGroup } from "../db/group-commit.ts";
import type { EntityManager } from "../db/orm.ts";
import type { SecretSeal } from "../domain/secret-seal.ts";
import type { EventAnnouncer } from "../features/events/event-announcer.ts";
import type { PaymentProviders } from "../features/payments/payment-providers.ts";
import { schedulePoll } from "../features/payments/provider-payments.ts";
import { assertProviderLimit, type ConsumeCall } from "../features/payments/payment-connections.ts";
import { type EventDeps, receiveEvent, signatureHeaders } from "../features/payments/receive-event.ts";
import {
  createReconcilePayment,
  reconcileForCall,
  type ReconcileOptions,
} from "../features/payments/reconcile-payments.ts";
import type { PaymentsOfShipments } from "../features/shipments/provider-check.ts";
import { createChangeBatch } from "../features/shipments/change-batch.ts";
import { createChangeShipment } from "../features/shipments/change-shipment.ts";
import type { ShipmentKey } from "../features/shipments/find-shipment.ts";
import type { Slots } from "../features/slots/slots.ts";
import type { VersionFees } from "../features/tariffs/versions/version-fees.ts";
import type { Limiter } from "../pipeline/bounds/rate-limiter.ts";
import type { CallIn } from "../pipeline/call.ts";
import { localWorkspaceCall } from "../pipeline/local-call.ts";
import type { FindTracking } from "../features/workspaces/tracking-urls.ts";
import type { ProviderEventOptions } from "../transport/http/provider-events.ts";

export function createEventOptions(deps: EventDeps): ProviderEventOptions {
  return {
    signatureHeaders: signatureHeaders(deps.providers),
    receive: (event) => receiveEvent(deps, event),
  };
}

export function createPayments(deps: {
  readonly em: EntityManager;
  readonly createGroup: CreateGroup;
  readonly versionFees: VersionFees;
  readonly slots: Slots;
  readonly events: Pick<EventAnnouncer, "announce">;
  readonly providers: PaymentProviders;
  readonly secretSeal: SecretSeal;
  readonly now: () => Date;
  readonly log: Logger;
  readonly limiter: Pick<Limiter, "consume">;
  readonly findTracking: FindTracking;
}) {
  const { announce } = deps.events;
  const callIn: CallIn = async (workspace, test) =>
    localWorkspaceCall(workspace, {
      test,
      ...(await deps.findTracking(deps.em, workspace)),
    });
  const changeShipment = createChangeShipment(deps, announce);
  const reconcileDeps = {
    ...deps,
    changeShipment,
    callIn,
  };
  const reconcilePayment = createReconcilePayment(reconcileDeps);
  const consumeCall: ConsumeCall = (name, limit) => deps.limiter.consume(name, "write", limit);
  const reconcileForCaller = async (key: ShipmentKey, options?: Pick<ReconcileOptions, "expire">) => {
    await assertProviderLimit(consumeCall, "payments", key.workspace);
    await reconcileForCall(reconcilePayment, key, options);
  };
  const payments: PaymentsOfShipments = {
    schedulePoll: (tx, key) => schedulePoll(tx, key, deps.now()),
    expireCheckout: (key) => reconcileForCaller(key, { expire: true }),
  };
  return {
    changeShipment,
    changeBatch: createChangeBatch(deps, announce),
    reconcilePayment,
    payments,
    pollPayment: reconcileForCaller,
    consumeCall,
    paymentJobs: { ...reconcileDeps, reconcilePayment },
    callIn,
    simulations: { ...deps, changeShipment, callIn },
    reclaims: { ...deps, changeShipment, callIn, payments },
  };
}
