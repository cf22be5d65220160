import type { MessageInitShape } from "@bufbuild/protobuf";
import { useEffect, useState } from "preact/hooks";
import { ShipmentService, type ExportShipmentsRequestSchema } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { useClient } from "../api/clients.ts";
import { useTimeZone } from "../api/session.ts";
import { Dialog } from "../ui/dialog.tsx";
import { bytesText } from "../ui/format.ts";
import { localDate } from "../ui/local-time.ts";
import { Progress } from "../ui/page.tsx";

export interface ExportProps {
  readonly filters: MessageInitShape<typeof ExportShipmentsRequestSchema>;
}

export function ExportDialog(props: ExportProps) {
  const timeZone = useTimeZone();
  const client = useClient(ShipmentService);
  const [bytes, setBytes] = useState<number>();
  const [controller] = useState(() => new AbortController());
  // Closing the dialog cancels the download.
  useEffect(() => () => controller.abort(), []);
  const run = async () => {
    const pieces: Uint8Array<ArrayBuffer>[] = [];
    let size = 0;
    setBytes(size);
    // No timeout, because the export streams.
    const options = { signal: controller.signal, timeoutMs: 0 };
    try {
      for await (const { csv } of client.exportShipments(props.filters, options)) {
        pieces.push(csv as Uint8Array<ArrayBuffer>);
        setBytes((size += csv.length));
      }
    } catch (error) {
      if (controller.signal.aborted) return;
      throw error;
    }
    save(new Blob(pieces, { type: "text/csv" }), `shipments-${localDate(new Date(), timeZone)}.csv`);
  };
  return (
    <Dialog title="Export shipments" submit="Export" run={run}>
      <p>Exports all pages of the filtered list as a CSV file for spreadsheets, newest first.</p>
      {bytes !== undefined && <Progress label={`${bytesText(bytes)} so far`} />}
    </Dialog>
  );
}

function save(file: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  // One minute is long enough for the browser to read the file.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
