import type { Logger } from "pino";
import type { CreateGroup } from "../db/group-commit.ts";
import type { EntityManager } from "../db/orm.ts";
import type { SecretSeal } from "../domain/secret-seal.ts";
import type { EventAnnouncer } from "../features/events/event-announcer.ts";
import type { PaymentProviders } from "../features/payments/payment-providers.ts";
import { wakePayment } from "../features/payments/provider-payments.ts";
import { assertProviderRate, type TakeCall } from "../features/payments/payment-connections.ts";
import {
  type NoticeDeps,
  receiveNotice,
  signatureHeaders,
} from "../features/payments/receive-notice.ts";
import {
  createSettlePayment,
  settleForCall,
  type SettleOptions,
} from "../features/payments/settle-payments.ts";
import type { PaymentsOfShipments } from "../features/shipments/provider-check.ts";
import { createChangeBatch } from "../features/shipments/change-batch.ts";
import { createChangeShipment } from "../features/shipments/change-shipment.ts";
import type { ShipmentKey } from "../features/shipments/find-shipment.ts";
import type { VersionFees } from "../features/tariffs/versions/version-fees.ts";
import type { Limiter } from "../pipeline/bounds/rate-limiter.ts";
import type { CallIn } from "../pipeline/call.ts";
import { localWorkspaceCall } from "../pipeline/local-call.ts";
import type { FindTracking } from "../features/workspaces/tracking-urls.ts";
import type { NoticeOptions } from "../transport/http/payment-notices.ts";

export function createNotices(deps: NoticeDeps): NoticeOptions {
  return {
    signatureHeaders: signatureHeaders(deps.providers),
    receive: (notice) => receiveNotice(deps, notice),
  };
}

export function createPayments(deps: {
  readonly em: EntityManager;
  readonly createGroup: CreateGroup;
  readonly versionFees: VersionFees;
  readonly events: Pick<EventAnnouncer, "announce">;
  readonly providers: PaymentProviders;
  readonly secretSeal: SecretSeal;
  readonly now: () => Date;
  readonly log: Logger;
  readonly limiter: Pick<Limiter, "take">;
  readonly findTracking: FindTracking;
}) {
  const { announce } = deps.events;
  const callIn: CallIn = async (workspace, test) =>
    localWorkspaceCall(workspace, {
      test,
      ...(await deps.findTracking(deps.em, workspace)),
    });
  const changeShipment = createChangeShipment(deps, announce);
  const settleDeps = {
    ...deps,
    changeShipment,
    callIn,
  };
  const settlePayment = createSettlePayment(settleDeps);
  const takeCall: TakeCall = (name, limit) => deps.limiter.take(name, "write", limit);
  const settleForCaller = async (key: ShipmentKey, options?: Pick<SettleOptions, "end">) => {
    await assertProviderRate(takeCall, "payments", key.workspace);
    await settleForCall(settlePayment, key, options);
  };
  return {
    changeShipment,
    changeBatch: createChangeBatch(deps, announce),
    settlePayment,
    payments: {
      wake: (tx, key) => wakePayment(tx, key, deps.now()),
      endCheckout: (key) => settleForCaller(key, { end: true }),
    } satisfies PaymentsOfShipments,
    askAboutPayment: settleForCaller,
    takeCall,
    paymentJobs: { ...settleDeps, settlePayment },
    callIn,
    simulations: { ...deps, changeShipment, callIn },
  };
}
