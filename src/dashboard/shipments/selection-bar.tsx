import type { Shipment } from "../../../gen/shipments/v1/shipment_pb.js";
import { labelsHref } from "../routes/paths.ts";
import { Button, LinkButton } from "../ui/button.tsx";
import { More } from "../ui/menu.tsx";
import { ACTS, type AnyAct, type ConnectionQuery, shipmentsFor } from "./acts.ts";
import { totalText } from "./newest-shipments.ts";

/** Maximum number of actions outside of the menu, so that the bar has at most two lines on phones. */
const MAX_BUTTONS = 2;

export interface SelectionBarProps {
  readonly selected: readonly Shipment[];
  readonly clear: () => void;
  readonly acts: {
    readonly connected: ConnectionQuery;
    start(act: AnyAct, shipments: readonly Shipment[]): void;
  };
}

export function SelectionBar({ selected, clear, acts }: SelectionBarProps) {
  const { connected } = acts;
  const possible = ACTS.map((act) => ({ act, count: shipmentsFor(act, selected, connected)?.length ?? 0 })).filter(
    (it) => it.count > 0,
  );
  const usual = possible.filter(({ act }) => !act.isInMenu);
  const likely = new Set(usual.toSorted((one, other) => other.count - one.count).slice(0, MAX_BUTTONS));
  const buttonsOf = (shown: typeof possible) =>
    shown.map(({ act, count }) => (
      <Button key={act.name} destructive={act.isDangerous} onClick={() => acts.start(act, selected)}>
        {act.name} ({count})
      </Button>
    ));
  return (
    <div class="selection" role="region" aria-label="Selection">
      <p role="status">
        <strong>{selected.length} selected</strong> <span class="minor">{totalText(selected)}</span>
      </p>
      <Button quiet onClick={clear}>
        Clear
      </Button>
      <div class="actions">
        {buttonsOf(usual.filter((it) => likely.has(it)))}
        <More>
          {buttonsOf(usual.filter((it) => !likely.has(it)))}
          <LinkButton href={labelsHref(selected)}>Print labels</LinkButton>
          {buttonsOf(possible.filter(({ act }) => act.isInMenu))}
        </More>
      </div>
    </div>
  );
}
