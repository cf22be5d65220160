import type {
  DescMessage,
  DescMethodUnary,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import type { VNode } from "preact";
import { useCall } from "../api/clients.ts";
import { Dialog, type DialogProps } from "./dialog.tsx";
import { requestOf } from "./form-data.ts";
import { toast } from "./toast.tsx";

/**
 * A dialog that makes one call, once, with what its fields hold:
 *
 *     <RpcDialog
 *       method={WorkspaceAdminService.method.renameWorkspace}
 *       title="Rename Acme"
 *       submit="Rename"
 *       request={{ workspace: id }}
 *       done="The workspace is renamed."
 *       then={reload}
 *     >
 *       <TextField name="name" label="Name" />
 *     </RpcDialog>
 */
export function RpcDialog<I extends DescMessage, O extends DescMessage>(
  props: Omit<DialogProps, "run"> & {
    readonly method: DescMethodUnary<I, O>;
    /** What the fields do not hold, or hold otherwise than the request has it. */
    readonly request?: MessageInitShape<I> | ((form: FormData) => MessageInitShape<I>);
    /** What is said once it is done. */
    readonly done?: string | ((form: FormData) => string);
    /** Called with the response; a dialog that it gives takes the place of this one. */
    readonly then?: (response: MessageShape<O>) => VNode | void | Promise<void>;
  },
) {
  const { method, request, done, then, ...dialog } = props;
  const call = useCall();
  const run: DialogProps["run"] = async (form, options) => {
    const own = typeof request === "function" ? request(form) : request;
    const response = await call(method, { ...requestOf(method.input, form), ...own }, options);
    if (done !== undefined) toast(typeof done === "string" ? done : done(form));
    return then?.(response);
  };
  return <Dialog {...dialog} run={run} />;
}
