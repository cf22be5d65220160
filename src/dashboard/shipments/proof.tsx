import { DropoffVerification } from "../../../gen/shipments/v1/courier_pb.js";
import { ShipmentStatus, type Shipment } from "../../../gen/shipments/v1/shipment_pb.js";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { useRpc } from "../api/use-query.ts";
import { CopyButton, Time } from "../ui/values.tsx";
import { dataUrl } from "../ui/format.ts";
import { Badge, DescriptionList } from "../ui/description-list.tsx";
import { Section } from "../ui/page.tsx";
import { VERIFICATIONS } from "./delivery-choices.ts";
import "./proof.css";

/** Whether a missing verification prevents the shipment's delivery. */
export function isUnverified({ status, dropoffVerification, proof }: Shipment): boolean {
  if (status !== ShipmentStatus.IN_TRANSIT || proof?.waived !== undefined) return false;
  const isRecorded = {
    [DropoffVerification.UNSPECIFIED]: true,
    [DropoffVerification.NONE]: true,
    [DropoffVerification.PIN]: proof?.pinVerified,
    [DropoffVerification.PHOTO]: proof?.photo,
    [DropoffVerification.SIGNATURE]: proof?.signature,
  };
  return isRecorded[dropoffVerification] !== true;
}

/** Shows the required and the recorded proof of delivery. Empty if there is neither. */
export function ProofSection({ shipment }: { readonly shipment: Shipment }) {
  const { dropoffVerification, dropoffPin, proof } = shipment;
  const isRequired = dropoffVerification !== DropoffVerification.NONE;
  if (!isRequired && proof === undefined) return undefined;
  const { recordedAt, receivedBy, note, pinVerified, waived, photo, signature } = proof ?? {};
  const isProven = pinVerified || photo || signature || receivedBy !== undefined;
  return (
    <Section title="Proof of delivery" note={waived && <Badge tone="attention">Waived</Badge>}>
      <DescriptionList
        items={[
          ["Required at the door", isRequired && VERIFICATIONS[dropoffVerification]],
          [
            "PIN",
            pinVerified
              ? "Verified at the door"
              : dropoffPin && (
                  <>
                    <code>{dropoffPin}</code> <CopyButton text={dropoffPin} what="PIN" />
                  </>
                ),
          ],
          ["Received by", receivedBy],
          ["Note", note],
          ["Reason for waiving", waived],
          [isProven ? "Recorded" : "Waived", recordedAt && <Time at={recordedAt} exact />],
        ]}
      />
      {(photo || signature) && (
        <div class="proof-pictures">
          {photo && <Photo reference={shipment.reference} />}
          {signature && <Signature reference={shipment.reference} />}
        </div>
      )}
    </Section>
  );
}

export function Photo({ reference }: { readonly reference: string }) {
  const { data, problem } = useRpc(ShipmentService.method.getProofPhoto, { shipment: reference });
  return <Picture name="Photo" type="image/jpeg" bytes={data?.jpeg} why={problem?.message} />;
}

function Signature({ reference }: { readonly reference: string }) {
  const method = ShipmentService.method.getProofSignature;
  const { data, problem } = useRpc(method, { shipment: reference });
  return <Picture name="Signature" type="image/png" bytes={data?.png} why={problem?.message} />;
}

function Picture(props: {
  readonly name: string;
  readonly type: string;
  readonly bytes: Uint8Array | undefined;
  readonly why: string | undefined;
}) {
  const { name, type, bytes, why } = props;
  return (
    <figure>
      {!why && <div>{bytes && <img src={dataUrl(type, bytes)} alt={`${name} taken at the door`} />}</div>}
      <figcaption>{why ?? name}</figcaption>
    </figure>
  );
}
