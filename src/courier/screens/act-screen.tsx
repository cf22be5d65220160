import { useEffect, useRef, useState } from "preact/hooks";
import { ErrorNote } from "../inputs/error-note.tsx";
import { type ActKind, allowedActs, type Details } from "../run/acts.ts";
import { nextEnd, type Shipment, requiredProof, ATTEMPT_REASONS } from "../run/shipment.ts";
import type { Conflict } from "../run/queue.ts";
import { discardAct, queueAct } from "../sync/outbox.ts";
import { refusalText } from "./format.ts";
import { paths, replaceScreen } from "./route.ts";
import { useApp } from "./state.ts";
import { contentsText } from "./stop-view.tsx";
import { PhotoField } from "../inputs/photo-field.tsx";
import { PinPad } from "../inputs/pin-pad.tsx";
import { SignatureField } from "../inputs/signature-field.tsx";

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
  const [isStorageFull, setStorageFull] = useState(false);
  const record = async (details: Details) => {
    // A second tap would record a second attempt.
    if (isRecording.current) return;
    isRecording.current = true;
    if (details.pin !== undefined) setPinCheck("queueing");
    try {
      await queueAct(kind as ActKind, shipments, details);
    } catch {
      isRecording.current = false;
      setPinCheck(undefined);
      return setStorageFull(true);
    }
    setStorageFull(false);
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
      <ErrorNote text={typeof pinCheck === "object" && refusalText(pinCheck, t)} />
      <ErrorNote text={isStorageFull && t.noStorage} />
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

/** Progress of the check, or the refusal of the PIN. */
type PinCheck = "queueing" | "running" | Conflict;

/**
 * Waits until the service has accepted or refused a PIN, unless there is no connection. After a wrong PIN, removes the
 * act from the queue, so that the courier can enter the PIN again.
 *
 * @returns the state of the check, and a function that starts it after the act was queued
 */
function usePinCheck(shipment: string): readonly [PinCheck | undefined, (check: PinCheck | undefined) => void] {
  const { state } = useApp();
  const [check, setCheck] = useState<PinCheck>();
  useEffect(() => {
    if (check !== "running") return undefined;
    const own = state.acts.filter((act) => act.shipment === shipment);
    const wrong = own.find(({ conflict }) => conflict?.code === "PIN_WRONG");
    if (wrong !== undefined) {
      setCheck(wrong.conflict);
      void discardAct(wrong);
    } else if (own.length === 0 || state.connection !== "online") replaceScreen(paths.run);
    const timer = setTimeout(() => replaceScreen(paths.run), PIN_WAIT_MS);
    return () => clearTimeout(timer);
  }, [check, state.acts, state.connection]);
  return [check, setCheck];
}

/** The packages and items to check at the pickup. A single package without items needs no check. */
function Checklist({ shipments, label, onRecord }: FormProps) {
  const { t } = useApp();
  const [isIncomplete, setIncomplete] = useState(false);
  const groups = shipments.map((shipment) => {
    const items = (shipment.items ?? []).map(({ name, quantity }) => `${quantity} × ${name}`);
    return { reference: shipment.reference, rows: items.length > 0 ? items : [contentsText(shipment, t)] };
  });
  const isSimple = groups.flatMap(({ rows }) => rows).length === 1;
  const record = (event: SubmitEvent) => {
    event.preventDefault();
    const boxes = [...(event.currentTarget as HTMLFormElement).querySelectorAll("input")];
    const isComplete = boxes.every(({ checked }) => checked);
    setIncomplete(!isComplete);
    if (isComplete) onRecord({});
  };
  return (
    <form onSubmit={record} onInput={() => setIncomplete(false)}>
      {!isSimple && <p>{t.checklist}</p>}
      {groups.map(({ reference, rows }) => (
        <fieldset key={reference}>
          <legend class="reference">{reference}</legend>
          {rows.map((row) =>
            isSimple ? (
              <p>{row}</p>
            ) : (
              <label class="check">
                <input type="checkbox" />
                {row}
              </label>
            ),
          )}
        </fieldset>
      ))}
      <SubmitPart missing={isIncomplete && t.missing.checklist} label={label} />
    </form>
  );
}

const MAX_NAME = 200;
const PIN = /^\d{4}$/;

/** The proof of a delivery: the required one, and the recipient's name, a photo and a note if wanted. */
function DeliverForm({ shipments: [shipment], label, onRecord }: FormProps) {
  const { t } = useApp();
  const required = requiredProof(shipment);
  const [pin, setPin] = useState("");
  const [photo, setPhoto] = useState<string>();
  const [signature, setSignature] = useState<string>();
  const [missing, setMissing] = useState<string>();
  useEffect(() => setMissing(undefined), [pin, photo, signature]);
  const record = (event: SubmitEvent) => {
    event.preventDefault();
    const entries = Object.fromEntries(new FormData(event.currentTarget as HTMLFormElement)) as Details;
    const isGiven = { none: true, pin: PIN.test(pin), photo: photo !== undefined, signature: signature !== undefined };
    if (required !== "none" && !isGiven[required]) return setMissing(t.missing[required]);
    onRecord({
      ...withText({ received_by: entries.received_by?.trim(), note: entries.note?.trim() }),
      ...(required === "pin" && { pin }),
      ...(photo !== undefined && { photo }),
      ...(signature !== undefined && { signature }),
    });
  };
  return (
    <form onSubmit={record}>
      {shipment.dropoff_handover === "leave_at_door" && <p class="instructions">{t.leaveAtDoor}</p>}
      {required === "pin" && <PinPad t={t} pin={pin} onEnter={setPin} />}
      {required === "signature" && <SignatureField t={t} onSign={setSignature} />}
      <PhotoField t={t} photo={photo} isRequired={required === "photo"} onTake={setPhoto} />
      <label class="field">
        <span class="label">
          {t.receivedBy} <small>({t.optional})</small>
        </span>
        <input name="received_by" maxLength={MAX_NAME} autocomplete="off" />
      </label>
      <NoteField isRequired={false} />
      <SubmitPart {...{ missing, label }} />
    </form>
  );
}

/** The reason why a pickup or delivery failed. */
function FailForm({ label, onRecord }: FormProps) {
  const { t } = useApp();
  const [reason, setReason] = useState<Details["reason"]>();
  const [photo, setPhoto] = useState<string>();
  const [missing, setMissing] = useState<string>();
  const record = (event: SubmitEvent) => {
    event.preventDefault();
    const { note = "" } = Object.fromEntries(new FormData(event.currentTarget as HTMLFormElement)) as Details;
    if (reason === undefined) return setMissing(t.missing.reason);
    if (reason === "other" && note.trim() === "") return setMissing(t.missing.note);
    onRecord({ reason, ...withText({ note: note.trim() }), ...(photo !== undefined && { photo }) });
  };
  return (
    <form onSubmit={record} onInput={() => setMissing(undefined)}>
      <fieldset>
        <legend class="label">{t.reason}</legend>
        {ATTEMPT_REASONS.map((it) => (
          <label class="check">
            <input type="radio" name="reason" checked={reason === it} onChange={() => setReason(it)} />
            {t.reasons[it]}
          </label>
        ))}
      </fieldset>
      <NoteField isRequired={reason === "other"} />
      <PhotoField t={t} photo={photo} isRequired={false} onTake={setPhoto} />
      <SubmitPart {...{ missing, label }} />
    </form>
  );
}

const MAX_NOTE = 500;

interface FormProps {
  readonly shipments: readonly [Shipment, ...Shipment[]];
  /** Label of the button that records the act. */
  readonly label: string;
  readonly onRecord: (details: Details) => void;
}

function NoteField({ isRequired }: { readonly isRequired: boolean }) {
  const { t } = useApp();
  return (
    <label class="field">
      <span class="label">
        {t.note} {!isRequired && <small>({t.optional})</small>}
      </span>
      <textarea name="note" rows={2} maxLength={MAX_NOTE} />
    </label>
  );
}

/** The message about a missing entry, and the button that records the act. */
function SubmitPart(props: { readonly missing: string | false | undefined; readonly label: string }) {
  return (
    <>
      <ErrorNote text={props.missing} />
      <button class="primary">{props.label}</button>
    </>
  );
}

/** Returns the entries that have text. */
function withText<T extends object>(entries: T): Partial<T> {
  return Object.fromEntries(Object.entries(entries).filter(([, text]) => text)) as Partial<T>;
}
