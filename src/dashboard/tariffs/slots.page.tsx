import { timestampDate, timestampMs } from "@bufbuild/protobuf/wkt";
import { useState } from "preact/hooks";
import { OperatorRole } from "../../../gen/shipments/admin/v1/operator_pb.js";
import { type LimitedSlot, SlotService } from "../../../gen/shipments/admin/v1/slot_service_pb.js";
import type { TariffSchedule } from "../../../gen/shipments/admin/v1/tariff_pb.js";
import { TariffService } from "../../../gen/shipments/admin/v1/tariff_service_pb.js";
import { SlotCapacityUnit } from "../../../gen/shipments/v1/window_pb.js";
import { useOperatorRole } from "../api/session.ts";
import { useRepeat, useRpc } from "../api/use-query.ts";
import { paths } from "../routes/paths.ts";
import { changeQuery, useLocation } from "../routes/router.ts";
import { dayText, LinkChoice, today } from "../ui/days.tsx";
import { Badge, type Label } from "../ui/description-list.tsx";
import { DialogButton, RpcDialog } from "../ui/dialog.tsx";
import { SelectField, TextField } from "../ui/fields.tsx";
import { numberFrom } from "../ui/format.ts";
import { addDays, CLOCK_FORMAT, clockText, localDate, offsetMs, WEEKDAY_FORMAT } from "../ui/local-time.ts";
import { Empty, Page, QueryView } from "../ui/page.tsx";
import { type Column, rowActions, Table } from "../ui/table.tsx";
import { amountText, takenText } from "../ui/taken-text.ts";
import { useTariffInForce } from "./tariff-view.tsx";
import { dateFormat } from "../ui/intl.ts";
import "./tariffs.css";

/** Poll interval to show new bookings, in milliseconds. */
const POLL_MS = 15_000;
/** Number of days that the API lists at most: two weeks. */
const DAYS = 14;
/** Share of the capacity above which a slot is marked. */
const NEARLY_FULL = 0.9;
const MAX_CAPACITY = 100_000;

/** Shows the upcoming slots that have a capacity or an alert, for one schedule and week. */
export function SlotsPage() {
  const inForce = useTariffInForce();
  return (
    <Page title="Slots">
      <QueryView query={inForce}>
        {(tariff) => (tariff === null ? <NoCapacity /> : <Schedules version={tariff.version} />)}
      </QueryView>
    </Page>
  );
}

function NoCapacity() {
  return (
    <Empty title="No slot has a capacity" link={{ label: "Show drafts", href: paths.tariffDrafts() }}>
      Set the capacity of a schedule in a draft and publish it.
    </Empty>
  );
}

function Schedules({ version }: { readonly version: number }) {
  const schedules = useRpc(TariffService.method.getTariffVersionSchedules, { version }, { version });
  const chosen = useLocation().query.get("schedule");
  return (
    <QueryView query={schedules}>
      {({ data }) => {
        const counted = data!.schedules.filter(isCounted);
        const schedule = counted.find(({ name }) => name === chosen) ?? counted[0];
        return schedule === undefined ? <NoCapacity /> : <Slots schedule={schedule} of={counted} />;
      }}
    </QueryView>
  );
}

function isCounted({ capacity, attentionAbove, exceptions }: TariffSchedule): boolean {
  return (capacity ?? attentionAbove) !== undefined || exceptions.some((exception) => exception.capacity !== undefined);
}

interface SlotsProps {
  readonly schedule: TariffSchedule;
  /** All schedules with a capacity or an alert. */
  readonly of: readonly TariffSchedule[];
}

function Slots({ schedule: { name, timeZone }, of }: SlotsProps) {
  const week = useLocation().query.get("week") === "next" ? "next" : "";
  const first = today(timeZone);
  const next = addDays(first, 7);
  return (
    <>
      <div class="day-range">
        <LinkChoice
          label="Week"
          name="week"
          choices={[
            ["", weekText(first)],
            ["next", weekText(next)],
          ]}
          current={week}
        />
        {of.length > 1 && (
          <div class="filters">
            <SelectField
              name="schedule"
              label="Schedule"
              value={name}
              choices={of.map((schedule) => [schedule.name, schedule.name])}
              onInput={(schedule) => changeQuery({ schedule })}
            />
          </div>
        )}
      </div>
      <p class="filter-note">Times are in {clockText(timeZone)}.</p>
      <SlotList key={name} schedule={name} timeZone={timeZone} isShown={(date) => date >= next === (week === "next")} />
    </>
  );
}

const keyOf = ({ start }: LimitedSlot) => String(timestampMs(start!));

function SlotList(props: {
  readonly schedule: string;
  readonly timeZone: string;
  readonly isShown: (date: string) => boolean;
}) {
  const { schedule, timeZone, isShown } = props;
  const mayChange = useOperatorRole(OperatorRole.OPERATOR);
  const list = useRpc(SlotService.method.listSlots, { schedule, days: DAYS });
  useRepeat(list.reload, POLL_MS);
  const dayOf = ({ start }: LimitedSlot) => localDate(timestampDate(start!), timeZone);
  const groupOf = (slot: LimitedSlot) => dayText(dayOf(slot), "full");
  return (
    <QueryView query={list}>
      {({ data }) => {
        const rows = data.filter((slot) => timestampMs(slot.end!) > Date.now() && isShown(dayOf(slot)));
        if (rows.length === 0) return <Empty title="No slots with a capacity in this week" />;
        const columns = columnsFor(schedule, rows, timeZone, mayChange);
        return <Table isList label="Slots" {...{ columns, rows, keyOf, groupOf }} />;
      }}
    </QueryView>
  );
}

/** Formats a week by its first date: `Nov 28 – Dec 4`. */
function weekText(first: string): string {
  const format = dateFormat(undefined, { month: "short", day: "numeric", timeZone: "UTC" });
  return format.formatRange(new Date(first), new Date(addDays(first, 6)));
}

function columnsFor(
  schedule: string,
  slots: readonly LimitedSlot[],
  timeZone: string,
  mayChange: boolean,
): readonly Column<LimitedSlot>[] {
  // The abbreviation of the zone distinguishes the slots before and after a clock change.
  const instants = slots.flatMap(({ start, end }) => [timestampDate(start!), timestampDate(end!)]);
  const hasClockChange = new Set(instants.map((instant) => offsetMs(instant, timeZone))).size > 1;
  const clock = { ...CLOCK_FORMAT, timeZone, timeZoneName: hasClockChange ? "short" : undefined } as const;
  const timeOf = ({ start, end }: LimitedSlot, day: Intl.DateTimeFormatOptions = {}) =>
    dateFormat(undefined, { ...day, ...clock }).formatRange(timestampDate(start!), timestampDate(end!));
  const columns: readonly Column<LimitedSlot>[] = [
    {
      header: "Slot",
      selfEvident: true,
      cell: (slot) => {
        const state = stateOf(slot);
        return (
          <>
            <strong>{timeOf(slot)}</strong> {state && <Badge tone={state[1]}>{state[0]}</Badge>}
          </>
        );
      },
    },
    {
      header: "Booked",
      align: "end",
      cell: (slot) => (
        <>
          {takenText(takenOf(slot), slot.capacity, slot.unit)}{" "}
          <progress
            class={stateOf(slot)?.[1]}
            aria-hidden="true"
            max={slot.capacity}
            value={slot.capacity ? takenOf(slot) : 0}
          />
          {slot.held > 0 && <span class="line minor">{amountText(slot.held, slot.unit)} held</span>}
        </>
      ),
    },
  ];
  if (!mayChange) return columns;
  const change = rowActions<LimitedSlot>((slot) => {
    const time = timeOf(slot, WEEKDAY_FORMAT);
    return (
      <DialogButton
        quiet
        label={`Change capacity of ${time}`}
        dialog={<CapacityDialog {...{ schedule, slot, time }} />}
      >
        Change
      </DialogButton>
    );
  });
  return [...columns, change];
}

function takenOf({ booked, held }: LimitedSlot): number {
  return booked + held;
}

function stateOf(slot: LimitedSlot): Label | undefined {
  if (slot.capacity === 0) return ["Closed", "neutral"];
  if (slot.remaining === 0) return ["Full", "bad"];
  return slot.capacity !== undefined && takenOf(slot) > NEARLY_FULL * slot.capacity
    ? ["Nearly full", "attention"]
    : undefined;
}

function CapacityDialog(props: { readonly schedule: string; readonly slot: LimitedSlot; readonly time: string }) {
  const { schedule, slot, time } = props;
  const [text, setText] = useState(String(slot.capacity ?? ""));
  const typed = numberFrom(text);
  // The service refuses -1 with the bounds.
  const isRefused = typed !== undefined && !(Number.isInteger(typed) && typed >= 0 && typed <= MAX_CAPACITY);
  const capacity = isRefused ? -1 : typed;
  const taken = takenOf(slot);
  const stay = taken === 1 ? "is booked. It stays" : "are booked. They stay";
  return (
    <RpcDialog
      method={SlotService.method.setSlotCapacity}
      title={`Capacity of ${time}`}
      submit="Save capacity"
      request={{ schedule, start: slot.start!, capacity }}
      done="Capacity changed."
    >
      <p>
        {takenText(takenOf(slot), slot.capacity, slot.unit)} booked
        {slot.held > 0 && `, ${amountText(slot.held, slot.unit)} of them held by quotes`}.
      </p>
      <TextField
        name="capacity"
        label={slot.unit === SlotCapacityUnit.KILOGRAMS ? "Capacity, kg" : "Capacity, shipments"}
        hint="0 closes the slot. Leave empty to restore the tariff’s capacity."
        numeric
        optional
        value={text}
        onInput={setText}
      />
      {capacity !== undefined && capacity >= 0 && capacity < taken && (
        <p class="problem attention" role="status">
          {amountText(taken, slot.unit)} {stay} booked, and nothing more can be booked.
        </p>
      )}
    </RpcDialog>
  );
}
