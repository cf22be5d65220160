import { useEffect, useRef, useState } from "preact/hooks";
import { ErrorNote } from "../inputs/error-note.tsx";
import { type ActKind, allowedActs, type Details } from "../run/acts.ts";
import { nextEnd, type Shipment } from "../run/shipment.ts";
import { discardAct, queueAct } from "../sync/outbox.ts";
import { Checklist } from "./checklist.tsx";
import { DeliverForm } from "./deliver-form.tsx";
import { FailForm } from "./fail-form.tsx";
import type { FormProps } from "./form-parts.tsx";
import { paths, replaceScreen } from "./route.ts";
import { useApp } from "./state.ts";

/** Maximum time that the courier waits for the service's verdict on a PIN. */
const PIN_WAIT_MS = 8_000;

/** Records an act with everything that the courier has to enter. */
export function ActScreen({ kind, shipments }: { readonly kind: string; readonly shipments: readonly string[] }) {
  const { state, t, reload, synchronize } = useApp();
  const chosen = state.shipments.filter(({ reference }) => shipments.includes(reference));
  const [first] = chosen;
  const [pinCheck, setPinCheck] = usePinCheck(shipments[0] ?? "");
  const isPossible = chosen.every((it) => allowedActs(it).includes(kind as ActKind));
  const isRecording = useRef(false);
  const record = async (details: Details) => {
    // A second tap would record a second attempt.
    if (isRecording.current) return;
    isRecording.current = true;
    if (details.pin !== undefined) setPinCheck("queueing");
    await queueAct(kind as ActKind, shipments, details);
    await reload();
    synchronize();
    if (details.pin === undefined) replaceScreen(paths.run);
    else setPinCheck("running");
    isRecording.current = details.pin === undefined;
  };
  if (first === undefined || (!isPossible && pinCheck === undefined)) {
    return (
      <>
        <a class="back" href={paths.run}>
          {t.back}
        </a>
        <h1 tabIndex={-1}>{t.unavailable}</h1>
      </>
    );
  }
  const end = nextEnd(first);
  const label = kind === "fail" ? t.failed[end] : t.act[kind as ActKind];
  const Form = FORMS[kind as keyof typeof FORMS];
  return (
    <>
      <button type="button" class="back" onClick={() => history.back()}>
        {t.back}
      </button>
      <h1 tabIndex={-1}>{label}</h1>
      <p>{end === "pickup" ? first.pickup_address : first.dropoff_address}</p>
      <ErrorNote text={pinCheck === "wrong" && t.refusal["PIN_WRONG"]} />
      {pinCheck === "running" && <p role="status">{t.loading}</p>}
      {/* The form stays, because its entries are sent again with another PIN. */}
      <div hidden={pinCheck === "running"}>
        <Form shipments={chosen as [Shipment, ...Shipment[]]} label={label} onRecord={(it) => void record(it)} />
      </div>
    </>
  );
}

const FORMS = { pick_up: Checklist, deliver: DeliverForm, fail: FailForm, return: ReturnForm } as const;

function ReturnForm({ label, onRecord }: FormProps) {
  const { t } = useApp();
  return (
    <>
      <p>{t.confirmReturn}</p>
      <button type="button" class="primary" onClick={() => onRecord({})}>
        {label}
      </button>
    </>
  );
}

type PinCheck = "queueing" | "running" | "wrong";

/**
 * Waits until the service has accepted or refused a PIN, unless there is no connection. After a wrong PIN, removes the
 * act from the queue, so that the courier can enter the PIN again.
 *
 * @returns the state of the check, and a function that starts it after the act was queued
 */
function usePinCheck(shipment: string): readonly [PinCheck | undefined, (check: PinCheck) => void] {
  const { state } = useApp();
  const [check, setCheck] = useState<PinCheck>();
  useEffect(() => {
    if (check !== "running") return undefined;
    const own = state.acts.filter((act) => act.shipment === shipment);
    const wrong = own.find(({ conflict }) => conflict?.code === "PIN_WRONG");
    if (wrong !== undefined) {
      setCheck("wrong");
      void discardAct(wrong);
    } else if (own.length === 0 || state.connection !== "online") replaceScreen(paths.run);
    const timer = setTimeout(() => replaceScreen(paths.run), PIN_WAIT_MS);
    return () => clearTimeout(timer);
  }, [check, state.acts, state.connection]);
  return [check, setCheck];
}
