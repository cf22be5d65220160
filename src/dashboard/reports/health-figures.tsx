import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { ComponentChildren } from "preact";
import type {
  PaymentHealth,
  PlatformHealth,
  Replica,
  TariffHealth,
  WebhookHealth,
} from "../../../gen/shipments/admin/v1/platform_report_service_pb.js";
import { Badge, type Tone } from "../ui/badge.tsx";
import type { Figure } from "../ui/description-list.tsx";
import { bytesText, numberText } from "../ui/format.ts";
import { Time } from "../ui/values.tsx";

/**
 * A delivery that waits for longer has failed several times, in milliseconds: attempts are a few
 * minutes apart at first.
 */
const LATE_DELIVERY_MS = 3_600_000;
/** What the service counts to. */
const MOST_DELIVERIES = 1_000_000n;
const MOST_PAYMENTS = 10_000;

/**
 * How each part of the platform is, in words, with a colour that says the same.
 *
 * @param isCurrent false when the service has failed to say it anew
 */
export function healthFigures(health: PlatformHealth, isCurrent: boolean): readonly Figure[] {
  const { replicas, database, tariff, webhooks, payments } = health;
  const now = health.checkedAt ? timestampMs(health.checkedAt) : Date.now();
  return [
    replicaFigure(replicas),
    {
      term: "Database",
      value: isCurrent ? state("good", "Answers") : state("attention", "Not known now"),
      note: database && `PostgreSQL ${database.version}, ${bytesText(Number(database.sizeBytes))}`,
    },
    ...(tariff ? [tariffFigure(tariff)] : []),
    ...(webhooks ? [webhookFigure(webhooks, now)] : []),
    ...(payments ? [paymentFigure(payments)] : []),
  ];
}

function state(tone: Tone, text: string): ComponentChildren {
  return <Badge tone={tone}>{text}</Badge>;
}

function replicaFigure(replicas: readonly Replica[]): Figure {
  const up = replicas.filter((replica) => replica.up);
  const text = `${up.length} of ${replicas.length} up`;
  const versions = [...new Set(up.map(({ version }) => version))];
  const note =
    versions.length > 1 ? `Versions differ: ${versions.join(", ")}` : `Version ${versions[0]}`;
  const allUp = up.length === replicas.length;
  const tone = up.length === 0 ? "bad" : allUp && versions.length === 1 ? "good" : "attention";
  return { term: "Replicas", value: state(tone, text), note: up.length > 0 && note };
}

function tariffFigure(tariff: TariffHealth): Figure {
  const { versionInForce, scheduledVersion, scheduledAt } = tariff;
  return {
    term: "Tariff",
    value:
      versionInForce === undefined
        ? state("bad", "No tariff: nothing can be quoted")
        : state("good", `Version ${versionInForce} in force`),
    note:
      scheduledVersion === undefined ? (
        "No other is scheduled"
      ) : (
        <>
          Version {scheduledVersion} from <Time at={scheduledAt} exact />
        </>
      ),
  };
}

function webhookFigure(webhooks: WebhookHealth, now: number): Figure {
  const { pendingDeliveries, oldestPendingAt } = webhooks;
  const isLate =
    oldestPendingAt !== undefined && now - timestampMs(oldestPendingAt) > LATE_DELIVERY_MS;
  const more = pendingDeliveries >= MOST_DELIVERIES ? "More than " : "";
  return {
    term: "Webhooks",
    value: state(
      isLate ? "attention" : "good",
      pendingDeliveries === 0n
        ? "Nothing waits"
        : `${more}${numberText(Number(pendingDeliveries))} waiting`,
    ),
    note: oldestPendingAt ? (
      <>
        The oldest since <Time at={oldestPendingAt} exact />
      </>
    ) : (
      "Every delivery is made"
    ),
  };
}

function paymentFigure(payments: PaymentHealth): Figure {
  const { overduePayments, overdueNotices, overdueAccounts } = payments;
  const overdue = [
    countText(overduePayments, "payment or refund", "payments or refunds"),
    countText(overdueNotices, "notice", "notices"),
    countText(overdueAccounts, "account", "accounts"),
  ].filter((text) => text !== undefined);
  return {
    term: "Payments",
    value:
      overdue.length === 0 ? state("good", "Nothing is overdue") : state("attention", "Overdue"),
    note: overdue.length === 0 ? "Providers answer" : overdue.join(", "),
  };
}

/** How many there are, in words; undefined for none. */
function countText(count: number, one: string, several: string): string | undefined {
  if (count === 0) return undefined;
  const more = count >= MOST_PAYMENTS ? "more than " : "";
  return `${more}${numberText(count)} ${count === 1 ? one : several}`;
}
