import type { VNode } from "preact";
import { OperatorRole } from "../../../gen/shipments/admin/v1/operator_pb.js";
import { MemberRole } from "../../../gen/shipments/v1/member_pb.js";
import { PaymentConnectionService } from "../../../gen/shipments/v1/payment_connection_service_pb.js";
import type { Shipment } from "../../../gen/shipments/v1/shipment_pb.js";
import { clientFor } from "../api/clients.ts";
import { type EnteredWorkspace, WorkspaceId } from "../api/session.ts";
import { paths } from "../routes/paths.ts";
import { StepDialog, stepsOf } from "../shipments/shipment-actions.tsx";
import { isPaidOnline } from "../shipments/shipment-badge.tsx";
import { type Step, STEP_PHRASES } from "../shipments/step.ts";
import { closeDialog, openDialog } from "../ui/dialog.tsx";
import { lazily } from "../ui/lazily.tsx";
import type { Hit } from "./hit.ts";

const InviteDialog = lazily(() => import("../people/members.tsx"), "InviteDialog");

const CreateWorkspaceDialog = lazily(
  () => import("../workspaces/platform-workspaces.page.tsx"),
  "CreateWorkspaceDialog",
);

const CreateOperatorDialog = lazily(() => import("../operators/operators.page.tsx"), "CreateOperatorDialog");

/** Returns a function that opens a dialog in a workspace's context, on any page. */
function opener({ id }: EnteredWorkspace, dialog: VNode): () => void {
  return () => openDialog(<WorkspaceId.Provider value={String(id)}>{dialog}</WorkspaceId.Provider>);
}

/** Returns the actions available on every page of a workspace. */
export function generalActs(workspace: EnteredWorkspace): readonly Hit[] {
  const { id, role, isTest } = workspace;
  const acts: Hit[] = [];
  if (role >= MemberRole.MEMBER) {
    acts.push({ label: "Book shipment", href: paths.book({ workspace: id }) });
  }
  if (role >= MemberRole.ADMIN && !isTest) {
    acts.push({ label: "Invite member", run: opener(workspace, <InviteDialog />) });
  }
  return acts;
}

/** Returns the actions available on every page of the platform. */
export function platformActs(role = OperatorRole.UNSPECIFIED): readonly Hit[] {
  const acts: Hit[] = [];
  if (role >= OperatorRole.OPERATOR) {
    acts.push({ label: "Create workspace", run: () => openDialog(<CreateWorkspaceDialog />) });
    acts.push({ label: "New tariff draft", href: paths.tariffDrafts({}, { new: "empty" }) });
  }
  if (role >= OperatorRole.OWNER) {
    acts.push({ label: "Create operator", run: () => openDialog(<CreateOperatorDialog />) });
  }
  return acts;
}

/** Returns a function that loads the workspace's payment connection once per search session. */
export function connectionLoader({ id }: EnteredWorkspace) {
  const client = clientFor(PaymentConnectionService, String(id));
  let loading: ReturnType<typeof client.getPaymentConnection> | undefined;
  return () =>
    (loading ??= client.getPaymentConnection({}).catch((error: unknown) => {
      loading = undefined;
      throw error;
    }));
}

/** Returns a shipment's available actions. Irreversible ones come last. */
export async function shipmentActs(
  workspace: EnteredWorkspace,
  shipment: Shipment,
  loadConnection: ReturnType<typeof connectionLoader>,
): Promise<readonly Hit[]> {
  if (workspace.role < MemberRole.MEMBER) return [];
  const { data: connection } = await loadConnection();
  const { reference, pickupWindow, dropoffWindow } = shipment;
  const { primary, others, isEditable, isCancellable } = stepsOf(shipment, {
    hasTimes: (pickupWindow ?? dropoffWindow) !== undefined,
    isOnline: isPaidOnline({ shipment, connection }),
    hasCouriers: true,
  });
  const hitOf = (step: Step): Hit => ({
    label: STEP_PHRASES[step](reference),
    run: opener(workspace, <StepDialog step={step} from={shipment} shipment={shipment} close={closeDialog} />),
  });
  const edit = paths.editShipment({ workspace: workspace.id, reference });
  return [
    ...(primary === undefined ? [] : [hitOf(primary)]),
    ...(isEditable ? [{ label: `Edit ${reference}`, href: edit }] : []),
    ...(others ?? []).map(hitOf),
    ...(isCancellable ? [hitOf("Cancel shipment")] : []),
  ];
}
