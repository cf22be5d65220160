import { OperatorKind, OperatorRole } from "../../gen/shipments/admin/v1/operator_pb.js";
import { OperatorService } from "../../gen/shipments/admin/v1/operator_service_pb.js";
import { WorkspaceAdminService } from "../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import type { EntityManager } from "../db/orm.ts";
import { Operator } from "../features/operators/operator.entity.ts";
import { publishDocument } from "../features/tariffs/drafts/publish-document.ts";
import sampleTariff from "./sample-tariff.json" with { type: "json" };
import { TariffVersion } from "../features/tariffs/versions/tariff.entity.ts";
import { Workspace } from "../features/workspaces/workspace.entity.ts";
import { localCall } from "../pipeline/local-call.ts";
import type { App } from "../server/app.ts";
import { callLocally } from "../server/local-rpcs.ts";
import { DEMO, inviteDemoAdmin, OWNER_EMAIL } from "./demo-sign-in.ts";

/**
 * Fills a database without tariff, workspaces and operators. Creates the sample tariff, a workspace with its admin, and
 * a platform owner.
 *
 * @returns the workspace's test key, which cannot be read again. `undefined` if the database was not empty. It is then
 * unchanged
 */
export async function fillEmptyDatabase({ em, tasks }: Pick<App, "em" | "tasks">): Promise<string | undefined> {
  if (!(await isEmpty(em.fork()))) return undefined;
  await publishDocument(
    { em, tasks, now: () => new Date() },
    {
      document: sampleTariff,
      name: "Sample",
      note: "sample: the five counties of New York City",
      callOf: (method) => localCall(method, DEMO.actor, DEMO.name),
    },
  );
  const { id, testApiKey } = await makeWorkspace(em);
  await inviteDemoAdmin(em, id);
  await makeOwner(em);
  return testApiKey;
}

async function isEmpty(em: EntityManager): Promise<boolean> {
  const tariffs = await em.count(TariffVersion);
  return tariffs + (await em.count(Workspace)) + (await em.count(Operator)) === 0;
}

async function makeWorkspace(em: EntityManager) {
  const fields = { name: "Demo", paymentProvider: "manual" };
  const { createWorkspace } = WorkspaceAdminService.method;
  const { data, testApiKey } = await callLocally(em, DEMO, createWorkspace, fields);
  return { id: Number(data!.id), testApiKey };
}

async function makeOwner(em: EntityManager): Promise<void> {
  const { PERSON: kind } = OperatorKind;
  const fields = { name: "owner", kind, email: OWNER_EMAIL, role: OperatorRole.OWNER };
  await callLocally(em, DEMO, OperatorService.method.createOperator, fields);
}
