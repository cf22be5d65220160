import { useState } from "preact/hooks";
import { OperatorRole } from "../../../gen/shipments/admin/v1/operator_pb.js";
import {
  WorkspaceAdminService,
  type AdminWorkspace,
} from "../../../gen/shipments/admin/v1/workspace_admin_service_pb.js";
import { useClient } from "../api/clients.ts";
import { useOperatorRole } from "../api/session.ts";
import { useAction } from "../api/use-action.ts";
import { FormDialog } from "../ui/dialog.tsx";
import { toast } from "../ui/toast.tsx";

interface ActionProps {
  readonly workspace: AdminWorkspace;
  /** Called when something was changed. */
  readonly changed: () => void;
}

type DialogProps = ActionProps & { readonly close: () => void };

/** Connects or disconnects the payment provider. */
export function PaymentsButton({ workspace, changed }: ActionProps) {
  const [isAsking, setAsking] = useState(false);
  if (!useOperatorRole(OperatorRole.OPERATOR)) return null;
  return (
    <>
      <button type="button" class="button" onClick={() => setAsking(true)}>
        {workspace.paymentProvider === undefined ? "Connect payments" : "Disconnect payments"}
      </button>
      {isAsking && (
        <PaymentsDialog workspace={workspace} changed={changed} close={() => setAsking(false)} />
      )}
    </>
  );
}

function PaymentsDialog(props: DialogProps) {
  const { workspace, changed, close } = props;
  const workspaces = useClient(WorkspaceAdminService);
  const isConnected = workspace.paymentProvider !== undefined;
  const change = useAction(async () => {
    if (isConnected) await workspaces.disconnectPaymentProvider({ workspace: workspace.id });
    else {
      const paymentProvider = "manual";
      await workspaces.connectPaymentProvider({ workspace: workspace.id, paymentProvider });
    }
    toast(isConnected ? "Payments are disconnected." : "Payments are connected.");
    close();
    changed();
  });
  const title = isConnected ? "Disconnect payments" : "Connect manual payments";
  return (
    <FormDialog
      title={title}
      action={change}
      submit={title}
      tone={isConnected ? "danger" : "primary"}
      close={close}
    >
      <p>
        {isConnected
          ? "The workspace can book nothing until a payment provider is connected again. Shipments that are booked stay as they are."
          : "The workspace records by itself what its customers have paid, and can book."}
      </p>
    </FormDialog>
  );
}
