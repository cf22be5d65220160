import { AccountService, type SavedFilter } from "../../../gen/shipments/account/v1/account_service_pb.js";
import { useCall } from "../api/clients.ts";
import { useRole, useWorkspace } from "../api/session.ts";
import { Button } from "../ui/button.tsx";
import { RpcButton } from "../ui/dialog.tsx";
import { textOf } from "../ui/form-data.ts";
import { attempt } from "../ui/toast.tsx";

const { deleteSavedFilter, renameSavedFilter, saveFilter } = AccountService.method;

export function SaveButtons(props: {
  /** Suggested name of the view. */
  readonly name: string;
  /** Filters, order and columns of the list as a query string. */
  readonly text: string;
  /** Whether the list differs from its queue only in order and columns. */
  readonly isArranged: boolean;
}) {
  const { name, text, isArranged } = props;
  const { live: workspace } = useWorkspace();
  const mayShare = useRole("member");
  const call = useCall();
  const keep = () =>
    attempt(() => call(saveFilter, { workspace, name, query: text }), `Saved as your view of “${name}”.`);
  const label = {
    label: "Name",
    hint: "Replaces your view with the same name, if any. Days such as “Today” stay relative.",
  };
  return (
    <>
      {isArranged && <Button onClick={() => void keep()}>Save as my “{name}”</Button>}
      <RpcButton
        button="Save view"
        method={saveFilter}
        submit="Save"
        request={{ workspace, query: text }}
        fields={{ name: label, ...(mayShare && { shared: "Share it with the workspace" }) }}
        done={(form) => `View “${textOf(form, "name")}” saved.`}
      />
    </>
  );
}

/** Buttons for a saved view. Admins can also delete views saved by others. */
export function ChangeButtons({ saved }: { readonly saved: SavedFilter }) {
  const { live: workspace } = useWorkspace();
  const [mayShare, isAdmin] = [useRole("member"), useRole("admin")];
  const { id: savedFilter, name, query, shared, sharedBy } = saved;
  const call = useCall();
  const save = (isShared: boolean) => call(saveFilter, { workspace, name, query, shared: isShared });
  const share = () =>
    attempt(
      () => save(!shared),
      shared ? `Only you can see “${name}” now.` : `The whole workspace can see “${name}” now.`,
    );
  const remove = () =>
    attempt(
      () => call(deleteSavedFilter, { workspace, savedFilter }),
      `View “${name}” deleted.`,
      sharedBy === undefined ? () => save(shared) : undefined,
    );
  if (sharedBy !== undefined && !isAdmin) return null;
  return (
    <>
      {sharedBy === undefined && mayShare && (
        <Button onClick={() => void share()}>{shared ? "Stop sharing it" : "Share it"}</Button>
      )}
      {sharedBy === undefined && (
        <RpcButton
          button="Rename"
          label={`Rename view ${name}`}
          method={renameSavedFilter}
          title={`Rename “${name}”`}
          submit="Rename"
          request={{ workspace, savedFilter }}
          fields={{ name: "Name" }}
          values={saved}
          done={(form) => `Renamed to “${textOf(form, "name")}”.`}
        />
      )}
      <Button label={`Delete view ${name}`} onClick={() => void remove()}>
        Delete
      </Button>
    </>
  );
}
