import {
  ShipmentService,
  type ExportShipmentsRequestSchema,
} from "../../../gen/shipments/v1/shipment_service_pb.js";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { useEffect, useState } from "preact/hooks";
import { useClient } from "../api/clients.ts";
import { paths } from "../routes/paths.ts";
import { Button } from "../ui/button.tsx";
import { Dialog, openDialog } from "../ui/dialog.tsx";
import { Menu } from "../ui/menu.tsx";
import { bytesText } from "../ui/format.ts";
import { Progress } from "../ui/query-view.tsx";

interface ExportProps {
  readonly filters: MessageInitShape<typeof ExportShipmentsRequestSchema>;
}

export function ExportMenu(props: ExportProps & { readonly workspace: string }) {
  const { workspace, filters } = props;
  return (
    <Menu label="Export">
      <Button quiet onClick={() => openDialog(<ExportDialog filters={filters} />)}>
        CSV file of this list
      </Button>
      <a class="button quiet" href={paths.manifest({ workspace })}>
        Manifest of a day
      </a>
    </Menu>
  );
}

/** Saves what the list has with its filters as a file for spreadsheets. */
function ExportDialog(props: ExportProps) {
  const client = useClient(ShipmentService);
  const [bytes, setBytes] = useState<number>();
  const [controller] = useState(() => new AbortController());
  // Who closes the dialog wants no file any more.
  useEffect(() => () => controller.abort(), []);
  const run = async () => {
    const pieces: Uint8Array<ArrayBuffer>[] = [];
    let size = 0;
    setBytes(size);
    // It takes as long as data comes.
    const options = { signal: controller.signal, timeoutMs: 0 };
    for await (const { csv } of client.exportShipments(props.filters, options)) {
      pieces.push(csv as Uint8Array<ArrayBuffer>);
      setBytes((size += csv.length));
    }
    save(new Blob(pieces, { type: "text/csv" }), "shipments.csv");
  };
  return (
    <Dialog title="Export shipments" submit="Export" run={run}>
      <p>
        All shipments of the list, with its filters and not only of this page, as a CSV file for
        spreadsheets, the newest first.
      </p>
      {bytes !== undefined && <Progress label={`${bytesText(bytes)} so far`} />}
    </Dialog>
  );
}

function save(file: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  // The browser has taken it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
