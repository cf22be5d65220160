import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { useContext } from "preact/hooks";
import { ShipmentService } from "../../../gen/shipments/v1/shipment_service_pb.js";
import { SimulatedStep, SimulationScenario } from "../../../gen/shipments/v1/simulation_pb.js";
import { type RunningSimulation, type TestClock, TestService } from "../../../gen/shipments/v1/test_service_pb.js";
import { useCall } from "../api/clients.ts";
import { useLive } from "../api/live.ts";
import { useRole, useTimeZone } from "../api/session.ts";
import { useAction } from "../api/use-action.ts";
import { useRpc } from "../api/use-query.ts";
import { paths } from "../routes/paths.ts";
import { ActionButton, RpcActionButton } from "../ui/button.tsx";
import { Badge } from "../ui/description-list.tsx";
import { Dialog, DialogButton, RpcButton } from "../ui/dialog.tsx";
import { TextField } from "../ui/fields.tsx";
import { textOf } from "../ui/form-data.ts";
import { enumText, numberText, relativeText } from "../ui/format.ts";
import { instantOf, localDate, localTime } from "../ui/local-time.ts";
import { Empty, Page, Section, QueryView } from "../ui/page.tsx";
import { type Column, ListView, rowActions, useList } from "../ui/table.tsx";
import { toast } from "../ui/toast.tsx";
import { Time, useNow } from "../ui/values.tsx";
import { TestClockQuery } from "./test-clock.ts";

/** Controls for the test clock, simulations, and the deletion of all test data. */
export function TestModePage() {
  const query = useContext(TestClockQuery)!;
  return (
    <Page title="Test mode">
      <QueryView query={query}>
        {(clock) =>
          clock && (
            <>
              <ClockSection clock={clock} follow={query.reload} />
              <Simulations now={timeOf(clock)} />
              <DeletionSection />
            </>
          )
        }
      </QueryView>
    </Page>
  );
}

function timeOf({ time }: TestClock): Date {
  return timestampDate(time!);
}

const HOUR_MS = 3_600_000;
const STEPS_AHEAD = [
  ["+ 1 hour", HOUR_MS],
  ["+ 1 day", 24 * HOUR_MS],
  ["+ 1 week", 7 * 24 * HOUR_MS],
] as const;

/**
 * Returns a function that advances the clock to a time, or stops it without one. It repeats the
 * call until the clock has reached the time.
 */
function useMove(follow: () => void): (time?: Date) => Promise<void> {
  const call = useCall();
  return async (time) => {
    const request = time && { time: timestampFromDate(time) };
    for (let isThere = false; !isThere; follow()) {
      isThere = (await call(TestService.method.moveTestClock, request ?? {})).complete;
    }
  };
}

interface ClockProps {
  readonly clock: TestClock;
  /** Called while the clock advances. */
  readonly follow: () => void;
}

function ClockSection({ clock, follow }: ClockProps) {
  const mayMove = useRole("member");
  const real = useNow();
  const now = timeOf(clock);
  return (
    <Section
      title="Clock"
      note={
        clock.frozen ? (
          <Badge tone="attention">{now > real ? "Moved ahead" : "Stopped"}</Badge>
        ) : (
          <Badge>Real time</Badge>
        )
      }
    >
      <p class="clock">
        <Time at={clock.frozen ? now : real} exact />
      </p>
      {clock.frozen && (
        <p class="minor">
          Real time: <Time at={real} exact />
        </p>
      )}
      {mayMove && <ClockActions {...{ clock, follow }} />}
      <p class="hint note">
        {clock.frozen
          ? "The clock is stopped until you move it or return to real time. Shipments, quotes, pickup slots and simulations use it."
          : "Move the clock ahead to run simulations, expire quotes and pass slots without waiting. It then stops."}
      </p>
    </Section>
  );
}

function ClockActions({ clock, follow }: ClockProps) {
  const move = useMove(follow);
  const now = timeOf(clock);
  return (
    <div class="actions note">
      {clock.frozen ? (
        <RpcActionButton
          method={TestService.method.releaseTestClock}
          request={{}}
          done="The test clock is reset to real time."
        >
          Real time
        </RpcActionButton>
      ) : (
        <MoveButton label="Stop" move={move} />
      )}
      {STEPS_AHEAD.map(([label, ms]) => (
        <MoveButton key={label} {...{ label, move }} to={new Date(now.getTime() + ms)} />
      ))}
      <DialogButton dialog={<MoveDialog {...{ now, move }} />}>To a time…</DialogButton>
    </div>
  );
}

type Move = ReturnType<typeof useMove>;

function MoveButton({ label, to, move }: { readonly label: string; readonly to?: Date; readonly move: Move }) {
  return <ActionButton action={useAction(() => move(to))}>{label}</ActionButton>;
}

function MoveDialog({ now, move }: { readonly now: Date; readonly move: Move }) {
  const timeZone = useTimeZone();
  return (
    <Dialog
      title="Advance clock"
      submit="Move it"
      run={async (form) => {
        const [date = "", time = ""] = textOf(form, "time").split("T");
        await move(instantOf(date, time, timeZone));
      }}
    >
      <TextField
        name="time"
        label="Until"
        type="datetime-local"
        value={`${localDate(now, timeZone)}T${localTime(now, timeZone)}`}
        hint="At most two years ahead. Simulation steps due by then run in order."
      />
    </Dialog>
  );
}

const SCENARIOS: Readonly<Record<SimulationScenario, string>> = {
  [SimulationScenario.UNSPECIFIED]: "Unknown",
  [SimulationScenario.DELIVER]: "Delivered",
  [SimulationScenario.LATE]: "Delivered late",
  [SimulationScenario.NO_COURIER]: "No courier",
  [SimulationScenario.PAYMENT_DECLINED]: "Payment declined",
  [SimulationScenario.PAYMENT_AFTER_CANCEL]: "Paid after cancellation",
  [SimulationScenario.REFUND_FAILED]: "Refund fails",
  [SimulationScenario.DISPUTE]: "Payment disputed",
  [SimulationScenario.STUCK]: "Never picked up",
  [SimulationScenario.FAILED_ATTEMPT]: "Delivered at second attempt",
  [SimulationScenario.RETURNED]: "Returned",
};

function stepText(step: SimulatedStep): string {
  if (step === SimulatedStep.ARRIVE) return "Courier arrives";
  return step === SimulatedStep.TRAVEL ? "Courier approaches" : enumText(SimulatedStep, step);
}

const STEP_CHOICES = Object.values(SimulatedStep)
  .filter((step) => typeof step === "number" && step !== SimulatedStep.UNSPECIFIED)
  .map((step) => [String(step), stepText(step)] as const);

function Simulations({ now }: { readonly now: Date }) {
  const timeZone = useTimeZone();
  const mayTake = useRole("member");
  const list = useList(TestService.method.listSimulations, {}, 25);
  useLive(list.reload);
  const columns: readonly Column<RunningSimulation>[] = [
    { header: "Shipment", selfEvident: true, cell: ({ shipment }) => <code>{shipment}</code> },
    { header: "Scenario", spare: true, cell: ({ scenario }) => SCENARIOS[scenario] },
    { header: "Next", cell: ({ nextStep }) => stepText(nextStep) },
    {
      header: "Due",
      cell: ({ dueAt }) => (
        <>
          <Time at={dueAt} exact="second" />
          <span class="line minor">{relativeText(timestampDate(dueAt!), now, timeZone)}</span>
        </>
      ),
    },
    ...(mayTake ? [TAKE] : []),
  ];
  return (
    <section class="page-part">
      <h2>Simulations</h2>
      <ListView
        query={list}
        label="Simulations"
        isList
        columns={columns}
        keyOf={({ shipment }) => shipment}
        href={({ shipment: reference }) => paths.shipment({ reference })}
        empty={
          <Empty title="No simulations running">
            A shipment booked by the API with a <code>simulation</code> advances automatically, step by step.{" "}
            <a href="/docs/sandbox#simulated-shipments" rel="external">
              Book a test shipment
            </a>
          </Empty>
        }
      />
    </section>
  );
}

const TAKE = rowActions<RunningSimulation>(({ shipment, nextStep }) => (
  <RpcButton
    button="Simulate"
    label={`Simulate event for ${shipment}`}
    method={TestService.method.takeTestStep}
    submit="Simulate event"
    request={{ shipment }}
    fields={{
      step: {
        label: "Step",
        choices: STEP_CHOICES,
        value: nextStep,
        hint: "The step runs now. The simulation then continues if its next step is still possible.",
      },
    }}
    done="Event simulated."
  />
));

function DeletionSection() {
  const actions = useRole("member") && (
    <DialogButton destructive dialog={<DeletionDialog />}>
      Delete all test data…
    </DialogButton>
  );
  return (
    <div class="page-part">
      <Section title="Test data" actions={actions}>
        <p class="hint">It is deleted automatically 30 days after its creation.</p>
      </Section>
    </div>
  );
}

function DeletionDialog() {
  const call = useCall();
  const counted = useRpc(ShipmentService.method.countShipments, {}).data?.data?.listed;
  const shipments =
    counted === undefined
      ? "All shipments"
      : `${counted.more ? "Over " : ""}${numberText(counted.count)} ${counted.count === 1 ? "shipment" : "shipments"}`;
  return (
    <Dialog
      title="Delete all test data"
      submit="Delete all test data"
      tone="danger"
      run={async () => {
        while (!(await call(TestService.method.deleteTestData, {})).complete);
        toast("Test data deleted.");
      }}
    >
      <p>This cannot be undone. These are deleted:</p>
      <ul class="links">
        <li>{shipments}, with their payments and simulations</li>
        <li>All test-mode customers</li>
        <li>All events, and webhook deliveries</li>
        <li>Stored responses for idempotency keys</li>
      </ul>
      <p>
        Keys, webhooks, limits and the Stripe connection are kept. The test clock is reset to real time. Live mode is
        not affected.
      </p>
    </Dialog>
  );
}
