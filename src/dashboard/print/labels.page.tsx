import type { Shipment } from "../../../gen/shipments/v1/shipment_pb.js";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { useClient } from "../api/clients.ts";
import { useQuery } from "../api/use-query.ts";
import { paths } from "../routes/paths.ts";
import { usePlace } from "../routes/router.ts";
import { bookedWindows, windowText } from "../shipments/windows.ts";
import { numberText } from "../ui/format.ts";
import { Empty } from "../ui/page.tsx";
import { QueryView } from "../ui/query-view.tsx";
import { PrintPage } from "./print-page.tsx";
import { encode } from "uqr";

/** How many labels are made at a time, as many as can be selected on some pages of the list. */
const MOST = 100;

/** The labels of the shipments that the address names: each `shipment`, once. */
export function LabelsPage() {
  const { query } = usePlace();
  const chosen = new Set(query.getAll("shipment"));
  const references = [...chosen].slice(0, MOST);
  const client = useClient(ShipmentService);
  const shipments = useQuery(
    (signal) =>
      Promise.all(
        references.map(
          async (shipment) => (await client.getShipment({ shipment }, { signal })).data!,
        ),
      ),
    [client, references.join()],
  );
  const [only] = references;
  const up =
    only !== undefined && references.length === 1
      ? { label: only, href: paths.shipment({ reference: only }) }
      : { label: "Shipments", href: paths.shipments() };
  return (
    <PrintPage
      title={references.length === 1 ? "Label" : "Labels"}
      up={up}
      sheets={
        references.length === 0 ? (
          <Empty title="No shipments are chosen" link={up}>
            Select shipments in the list, then print their labels.
          </Empty>
        ) : (
          <QueryView query={shipments}>
            {(all) => all.map((it) => <Label key={it.reference} shipment={it} />)}
          </QueryView>
        )
      }
    >
      {chosen.size > MOST && (
        <p class="problem attention">
          These are the first {MOST} of {chosen.size} that are selected. Select the others and print
          them apart.
        </p>
      )}
    </PrintPage>
  );
}

function Label({ shipment }: { readonly shipment: Shipment }) {
  const { reference, externalReference, customer, dropoffWindow } = shipment;
  const { dropoff } = bookedWindows(shipment);
  return (
    <article class="sheet label" aria-label={`Label of ${reference}`}>
      <p class="label-from">
        <small>From</small>
        {shipment.pickupAddress}
      </p>
      <p class="label-to">
        <small>To</small>
        {shipment.dropoffAddress}
        <br />
        {customer?.name}
      </p>
      <dl>
        <div>
          <dt>Weight</dt>
          <dd>{numberText(shipment.weightKg)} kg</dd>
        </div>
        {externalReference !== undefined && (
          <div>
            <dt>Your reference</dt>
            <dd>{externalReference}</dd>
          </div>
        )}
        {dropoff && (
          <div>
            <dt>Deliver</dt>
            <dd>{windowText(dropoff, dropoffWindow?.timeZone)}</dd>
          </div>
        )}
      </dl>
      <QrCode text={reference} label={`QR code of ${reference}`} />
      <p class="label-reference">{reference}</p>
      {shipment.test && <p class="label-test">Test. Not for delivery.</p>}
    </article>
  );
}

/** A QR code of a text (ISO/IEC 18004), with the quiet zone that scanners need. */
function QrCode(props: { readonly text: string; readonly label: string }) {
  const { data, size } = encode(props.text, { ecc: "M", border: 4 });
  const dark = data.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])),
  );
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={props.label}>
      <path d={dark.join("")} />
    </svg>
  );
}
