import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  GetHealthResponseSchema,
  type GetHealthResponse,
} from "../../../gen/shipments/admin/v1/platform_report_service_pb.js";
import type { EntityManager } from "../../db/orm.ts";
import { oldestInFlight, readFeedDelay } from "../events/feed-delay.ts";
import { readBacklog, type WebhookBacklog } from "./load-figures.ts";
import { readDatabase, readReplicas, parseTariff } from "./read-health-parts.ts";
import type { SlowAnswers } from "./report-cache.ts";

/** What `getHealth` works with. */
export interface HealthDeps {
  readonly em: EntityManager;
  readonly backlogs: SlowAnswers<WebhookBacklog>;
}

/** Tells how the parts of the platform are. */
export async function getHealth({ em, backlogs }: HealthDeps): Promise<GetHealthResponse> {
  const { checkedAtMs, ...database } = await readDatabase(em);
  const { pending, oldestMs } = await backlogs.get("", () => readBacklog(em));
  const delay = await readFeedDelay(em, await oldestInFlight(em));
  return create(GetHealthResponseSchema, {
    data: {
      checkedAt: timestampFromMs(checkedAtMs),
      replicas: await readReplicas(em),
      database,
      tariff: await parseTariff(em),
      webhooks: {
        pendingDeliveries: BigInt(pending),
        ...(oldestMs === null ? {} : { oldestPendingAt: timestampFromMs(oldestMs) }),
      },
      events: { delaySeconds: delay?.seconds ?? 0 },
    },
  });
}
