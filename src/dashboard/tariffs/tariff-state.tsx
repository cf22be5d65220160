import { TariffVersionState } from "../../../gen/shipments/admin/v1/tariff_pb.js";
import { Badge, type Tone } from "../ui/badge.tsx";

const STATES: Readonly<Record<TariffVersionState, readonly [label: string, tone: Tone]>> = {
  [TariffVersionState.UNSPECIFIED]: ["Unknown", "neutral"],
  [TariffVersionState.SCHEDULED]: ["Scheduled", "attention"],
  [TariffVersionState.IN_FORCE]: ["In force", "good"],
  [TariffVersionState.REPLACED]: ["Replaced", "neutral"],
  [TariffVersionState.CALLED_OFF]: ["Called off", "bad"],
};

/** Where a version of the tariff stands. */
export function TariffStateBadge({ state }: { readonly state: TariffVersionState }) {
  const [label, tone] = STATES[state] ?? STATES[TariffVersionState.UNSPECIFIED];
  return <Badge tone={tone}>{label}</Badge>;
}
