import { useState } from "preact/hooks";
import { type FormProps, SubmitPart } from "./form-parts.tsx";
import { useApp } from "./state.ts";
import { contentsText } from "./stop-view.tsx";

/** The packages and items to check at the pickup. A single package without items needs no check. */
export function Checklist({ shipments, label, onRecord }: FormProps) {
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
