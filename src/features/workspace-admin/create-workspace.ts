import type { MessageInitShape } from "@bufbuild/protobuf";
import { sql } from "@mikro-orm/postgresql";
import type {
  CreateWorkspaceRequest,
  CreateWorkspaceResponseSchema,
} from "../../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import type { DatabaseDeps, EntityManager } from "../../db/orm.ts";
import { runStatement } from "../../db/statement.ts";
import type { OperatorCall } from "../../pipeline/call.ts";
import { insertKey } from "../api-keys/api-keys.ts";
import { changesBetween, recordChange } from "../audit/record-change.ts";
import { Feed } from "../events/feed.entity.ts";
import { PaymentConnection, type PaymentProviderName } from "../workspaces/payment-connection.entity.ts";
import { parseTimeZone, Workspace } from "../workspaces/workspace.entity.ts";
import { loadAdminWorkspace } from "./admin-workspaces.ts";

/** Creates a workspace and its test twin, each with its first key. */
export async function createWorkspace(
  request: CreateWorkspaceRequest,
  call: OperatorCall,
  { em: tx }: DatabaseDeps,
): Promise<MessageInitShape<typeof CreateWorkspaceResponseSchema>> {
  const { name, paymentProvider } = request;
  const timeZone = parseTimeZone(request.timeZone ?? "");
  await runStatement(tx, LOCK);
  // The driver returns a bigint as text.
  const id = Number(await tx.insert(Workspace, { name, timeZone, createdAt: sql`now()` }));
  await tx.insert(Feed, { workspace: id, changedAt: sql`now()` });
  if (paymentProvider !== undefined) {
    // Request validation accepts known names only.
    const provider = paymentProvider as PaymentProviderName;
    await tx.insert(PaymentConnection, { workspace: id, provider, connectedAt: sql`now()` });
  }
  const { data: key, apiKey } = await insertKey(tx, id, { name: null, scope: "full" });
  const twin = await insertTwin(tx, id, name);
  const testKey = await insertKey(tx, twin, { name: null, scope: "full" });
  const created = {
    name,
    payment_provider: paymentProvider,
    time_zone: request.timeZone === undefined ? undefined : timeZone,
    api_key: key.id,
    test_workspace: twin,
    test_api_key: testKey.data.id,
  };
  recordChange(tx, call, {
    subject: `workspace/${id}`,
    workspaceId: id,
    changes: changesBetween({}, created),
  });
  const workspace = await tx.findOneOrFail(Workspace, id);
  const data = await loadAdminWorkspace(tx, workspace);
  return { data, apiKey, testApiKey: testKey.apiKey };
}

/** Lets one transaction at a time create workspaces. Two could deadlock where several servers store the table. */
const LOCK = "select pg_advisory_xact_lock(hashtextextended('new workspaces', 0))";

/** Inserts the test twin of a live workspace, with the payment provider `test`. Returns its id. */
async function insertTwin(tx: EntityManager, twinOf: number, name: string): Promise<number> {
  const id = Number(await tx.insert(Workspace, { name, createdAt: sql`now()`, twinOf }));
  const connection = { provider: "test", connectedAt: sql`now()` } as const;
  await tx.insert(PaymentConnection, { workspace: id, ...connection });
  await tx.insert(Feed, { workspace: id, changedAt: sql`now()` });
  return id;
}
