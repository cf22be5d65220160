import type { EntityManager } from "@mikro-orm/postgresql";
import { publishDocument as publish } from "../../src/features/tariffs/drafts/publish-document.ts";
import { createTariffTasks } from "../../src/features/tariffs/tasks/run-tariff-task.ts";
import { localCall } from "../../src/pipeline/local-call.ts";

/**
 * Publishes a tariff document. It replaces the version in force.
 *
 * @returns the new version with its numbers of zones and tiers
 * @throws Refusal TARIFF_FAULTY with all errors
 */
export async function publishDocument(
  em: EntityManager,
  document: unknown,
  options: { readonly honoursQuotes?: boolean } = {},
) {
  const tasks = createTariffTasks(em.config.get("clientUrl")!);
  const { data, published } = await publish(
    { em, tasks, now: () => new Date() },
    {
      ...options,
      document,
      name: "Test",
      callOf: (method) => localCall(method, "service", "test"),
    },
  );
  const { version, zones, fees } = data!;
  return { version, zones, tiers: fees!.tiers.length, published };
}
