import type { ComponentChildren } from "preact";
import type { CourierPlace } from "../../../gen/shipments/v1/courier_pb.js";
import { type Shipment, ShipmentStatus } from "../../../gen/shipments/v1/shipment_pb.js";
import type { AcceptedWindow } from "../../../gen/shipments/v1/window_pb.js";
import { paths } from "../routes/paths.ts";
import { Linked } from "../ui/description-list.tsx";
import { Section } from "../ui/page.tsx";
import { dateOf } from "../ui/format.ts";
import { Phone, Time, useNow } from "../ui/values.tsx";
import { ATTEMPT_REASONS, STAGES } from "./delivery-choices.ts";
import { isAhead, Lateness } from "./lateness.tsx";
import { Photo } from "./proof.tsx";
import type { End } from "./route.ts";
import { contactNameOf } from "./next-stop.ts";
import { windowOf, windowText } from "./windows.ts";

interface StopsProps {
  readonly shipment: Shipment;
  /** Last reported location of the courier, if the shipment is in transit. */
  readonly place: CourierPlace | undefined;
}

/** The people, addresses and times of a delivery, with the next stop first. */
export function Stops({ shipment, place }: StopsProps) {
  const isPickedUp = !isAhead("pickup", shipment) && shipment.status !== ShipmentStatus.PENDING;
  const ends = isPickedUp ? (["dropoff", "pickup"] as const) : (["pickup", "dropoff"] as const);
  return (
    <Section title="Delivery">
      <LastAttempt shipment={shipment} />
      <div class="stops">
        {ends.map((end) => (
          <Stop key={end} {...{ end, shipment }} />
        ))}
        <Carrier {...{ shipment, place }} />
      </div>
    </Section>
  );
}

/** Shows the last failed attempt until the shipment is delivered. */
function LastAttempt({ shipment }: { readonly shipment: Shipment }) {
  const { attempts, proof, reference, status } = shipment;
  const last = attempts.at(-1);
  if (last === undefined || status === ShipmentStatus.DELIVERED) return null;
  return (
    <div class="problem attention proof-pictures">
      <p>
        <strong>
          {attempts.length === 1 ? "Failed attempt" : `Failed attempt ${attempts.length}`}:{" "}
          {ATTEMPT_REASONS[last.reason]}
        </strong>{" "}
        {last.note} <Time at={last.attemptedAt} />
      </p>
      {last.photo && !proof?.photo && <Photo reference={reference} />}
    </div>
  );
}

function Stop({ end, shipment }: { readonly end: End; readonly shipment: Shipment }) {
  const isPickup = end === "pickup";
  const name = contactNameOf(end, shipment);
  const instructions = shipment[`${end}Instructions` as const];
  const window = shipment[`${end}Window` as const];
  const eta = shipment[`${end}Eta` as const];
  const ahead = isAhead(end, shipment);
  const now = useNow();
  return (
    <div class="stop">
      <h3>{isPickup ? "Pickup" : "Dropoff"}</h3>
      <p>{window ? <WindowTime window={window} /> : ahead && "As soon as possible"}</p>
      <p class="minor">
        <Lateness {...{ end, shipment }} />
      </p>
      {ahead && eta && (
        <p class={dateOf(eta) < now ? "late" : undefined}>
          Expected <Time at={eta} exact /> (<Time at={eta} />)
        </p>
      )}
      <Contact
        name={name && <strong>{name}</strong>}
        phone={isPickup ? shipment.pickupContactPhone : shipment.recipientPhone}
      />
      <p dir="auto">{shipment[`${end}Address` as const]}</p>
      {instructions && (
        <p class="minor multiline" dir="auto">
          {instructions}
        </p>
      )}
    </div>
  );
}

function Contact({ name, phone }: { readonly name: ComponentChildren; readonly phone: string | undefined }) {
  if (!name && phone === undefined) return null;
  return (
    <p dir="auto">
      {name} <Phone number={phone} />
    </p>
  );
}

/** The assigned courier and its progress. Empty if the shipment has ended without one. */
function Carrier({ shipment, place }: StopsProps) {
  const { courier, stage } = shipment;
  if (courier === undefined && !isAhead("dropoff", shipment)) return null;
  const progress = stage && STAGES[stage];
  return (
    <div class="stop">
      <h3>Courier</h3>
      {courier === undefined ? (
        <p class="minor">Not assigned</p>
      ) : (
        <Contact
          name={
            <Linked href={courier.courierId && paths.courier({ courier: courier.courierId })}>{courier.name}</Linked>
          }
          phone={courier.phone}
        />
      )}
      {(courier?.vehicle ?? courier?.externalId) && (
        <p class="minor">{[courier?.vehicle, courier?.externalId].filter(Boolean).join(" · ")}</p>
      )}
      {progress && isAhead("dropoff", shipment) && <p>{progress}</p>}
      {place && (
        <p class="minor">
          Seen <Time at={place.measuredAt} />
        </p>
      )}
    </div>
  );
}

function WindowTime(props: { readonly window: AcceptedWindow }) {
  const window = windowOf(props.window);
  const [there, here] = [windowText(window, props.window.timeZone), windowText(window)];
  return (
    <>
      {there}
      {here !== there && (
        <>
          <br />
          <span class="minor">{here} your time</span>
        </>
      )}
    </>
  );
}
