import type { QueuedAct } from "../run/queue.ts";
import { discardAct, retryAct } from "../sync/outbox.ts";
import { nextEnd } from "../run/shipment.ts";
import { clockText, refusalText } from "./format.ts";
import { paths, replaceScreen } from "./route.ts";
import { useApp } from "./state.ts";

/** Acts that are not sent: first those that the service refused, then those that wait. */
export function OutboxScreen() {
  const { state, t } = useApp();
  const refused = state.acts.filter(({ conflict }) => conflict !== undefined);
  const waiting = state.acts.filter(({ conflict }) => conflict === undefined);
  return (
    <>
      <a class="back" href={paths.run}>
        {t.back}
      </a>
      <h1 tabIndex={-1}>{t.outbox}</h1>
      {refused.length > 0 && (
        <section>
          <h2>{t.refusals}</h2>
          <ul class="tasks">
            {refused.map((act) => (
              <Refused key={act.seq} act={act} />
            ))}
          </ul>
        </section>
      )}
      <p>{waiting.length > 0 ? t.waiting : refused.length === 0 && t.allSent}</p>
      <ul class="tasks">
        {waiting.map((act) => (
          <li key={act.seq} class="task">
            <ActText act={act} />
            {act.courier !== state.session?.courier.id && <p>{t.otherCourier}</p>}
          </li>
        ))}
      </ul>
    </>
  );
}

/** A recorded act with all entries. */
function ActText({ act }: { readonly act: QueuedAct }) {
  const { state, t } = useApp();
  const { details, kind } = act;
  const shipment = state.shipments.find(({ reference }) => reference === act.shipment);
  const entries = [details.reason && t.reasons[details.reason], details.received_by, details.note];
  return (
    <>
      <p class="reference">{act.shipment}</p>
      <p>
        <strong>{kind === "fail" && shipment ? t.failed[nextEnd(shipment)] : t.act[kind]}</strong>,{" "}
        {clockText(act.at, state)}
      </p>
      <p>
        {entries.filter(Boolean).join(" · ")} {act.hasPhoto && t.withPhoto} {act.hasSignature && t.withSignature}
      </p>
    </>
  );
}

function Refused({ act }: { readonly act: QueuedAct }) {
  const { state, t, synchronize } = useApp();
  const shipment = state.run?.shipments.find(({ reference }) => reference === act.shipment);
  const isPin = act.conflict!.code === "PIN_WRONG";
  const discard = async () => {
    if (!confirm(t.confirmDiscard)) return;
    await discardAct(act);
    synchronize();
  };
  const retry = async () => {
    if (isPin) {
      await discardAct(act);
      return replaceScreen(paths.act(act.kind, [act.shipment]));
    }
    await retryAct(act);
    synchronize();
  };
  return (
    <li class="task">
      <ActText act={act} />
      <p class="error">
        {refusalText(act.conflict!, t)} {shipment !== undefined && t.stateNow(t.status[shipment.status])}
      </p>
      <div class="acts">
        <button type="button" onClick={() => void retry()}>
          {isPin ? t.enterAgain : t.tryAgain}
        </button>
        <button type="button" class="minor" onClick={() => void discard()}>
          {t.discard}
        </button>
      </div>
    </li>
  );
}
