import { useEffect } from "preact/hooks";
import {
  PaymentConnectionService,
  PaymentConnectionState,
  type PaymentConnection,
} from "../../../gen/shipments/v1/payment_connection_service_pb.js";
import { useClient, useCall } from "../api/clients.ts";
import { fieldError, type Labels } from "../api/problem.ts";
import { useWorkspace } from "../api/session.ts";
import { useAction } from "../api/use-action.ts";
import { settingsHref } from "../routes/paths.ts";
import { navigate, usePlace } from "../routes/router.ts";
import { ActionButton } from "../ui/button.tsx";
import { Code, Id } from "../ui/copy-button.tsx";
import { Badge, type Label, DescriptionList } from "../ui/description-list.tsx";
import { Dialog, DialogButton, RpcButton, RpcDialog } from "../ui/dialog.tsx";
import { TextField } from "../ui/fields.tsx";
import { textOf } from "../ui/form-data.ts";
import { ProblemNote, Spinner } from "../ui/query-view.tsx";
import { toast } from "../ui/toast.tsx";
import { Time } from "../ui/values.tsx";
import { missingWords } from "./missing-words.ts";

const { ONBOARDING, READY, RESTRICTED, REVOKED, NONE, UNSPECIFIED } = PaymentConnectionState;

interface ConnectionProps {
  readonly connection: PaymentConnection;
}

/** Label for connecting in test mode, so that readers do not connect their live account. */
const CONNECT_TEST = "Connect Stripe’s test mode";

/** Admin actions on a connection, or to create one, the most common last. */
export function StripeActions(props: ConnectionProps) {
  const { provider, state, ownKey } = props.connection;
  const { isTest } = useWorkspace();
  const isStripe = provider === "stripe";
  const continues = isStripe && !ownKey && state !== READY;
  return (
    <div class="actions">
      {isStripe && (
        <RpcButton
          destructive
          button="Disconnect"
          method={PaymentConnectionService.method.disconnectPaymentConnection}
          title="Disconnect Stripe"
          dismiss="Keep it"
          tone="danger"
          done="Stripe is disconnected."
        >
          <p>
            {isTest
              ? "No money moves then, and what is recorded as paid is believed. Shipments that are booked stay as they are, and so does your account at Stripe."
              : "Manual payments are connected again if they were before. If not, nothing can be booked until a provider is connected. Shipments that are booked stay as they are, and so does your account at Stripe, with its money."}
          </p>
          <p>This cannot be done while payments or refunds are open.</p>
        </RpcButton>
      )}
      {(!isStripe || ownKey) && (
        <DialogButton primary={ownKey && state === REVOKED} dialog={<KeyDialog {...props} />}>
          {isStripe ? "Replace the key" : "Use a key of your own"}
        </DialogButton>
      )}
      {!isStripe && (
        <DialogButton primary dialog={<ConnectDialog {...props} />}>
          {isTest ? CONNECT_TEST : "Connect Stripe"}
        </DialogButton>
      )}
      {continues && <ContinueButton isRevoked={state === REVOKED} />}
    </div>
  );
}

/** Labels of this site's URLs when Stripe refuses them. */
const ADDRESS_LABELS: Labels = new Map(
  ["return_url", "refresh_url"].map((name) => [name, "The address of this site"]),
);

/** Query parameter of the return from Stripe. */
const BACK = "back";

function useGoToStripe(): () => Promise<void> {
  const connections = useClient(PaymentConnectionService);
  return async () => {
    const { onboardingUrl } = await connections.beginPaymentConnection({
      paymentProvider: "stripe",
      returnUrl: addressBack("done"),
      refreshUrl: addressBack("ended"),
    });
    location.assign(onboardingUrl);
  };
}

function addressBack(back: string): string {
  return new URL(settingsHref("payments", { [BACK]: back }), location.origin).href;
}

function ContinueButton({ isRevoked }: { readonly isRevoked: boolean }) {
  const action = useAction(useGoToStripe());
  return (
    <>
      <ActionButton primary action={{ ...action, problem: undefined }}>
        {isRevoked ? "Connect again" : "Continue at Stripe"}
      </ActionButton>
      {action.problem && <ProblemNote problem={action.problem} labels={ADDRESS_LABELS} />}
    </>
  );
}

function ConnectDialog({ connection: { provider } }: ConnectionProps) {
  const { isTest } = useWorkspace();
  const goToStripe = useGoToStripe();
  return (
    <Dialog
      title={isTest ? CONNECT_TEST : "Connect Stripe"}
      submit="Continue at Stripe"
      run={goToStripe}
    >
      <p>
        {isTest
          ? "Stripe asks what it asks in live mode, and takes made-up answers. Then it leads back here. No real money moves."
          : "Stripe asks about your business and where to pay out, which takes some minutes. Then it leads back here. The money is yours from the start: customers pay your own account at Stripe."}
      </p>
      {isTest ? (
        <p>
          <strong>Nothing can be booked in test mode before Stripe is done.</strong> What is booked
          stays as it is.
        </p>
      ) : (
        provider !== undefined && (
          <p>
            <strong>Stripe takes the place of manual payments at once.</strong> Nothing can be
            booked before it takes payments. What is booked stays as it is.
          </p>
        )
      )}
    </Dialog>
  );
}

/** Requests an API key of the workspace's Stripe account, which is never shown again. */
function KeyDialog({ connection: { provider, ownKey } }: ConnectionProps) {
  const { id, isTest } = useWorkspace();
  const mode = isTest ? "test" : "live";
  return (
    <RpcDialog
      method={PaymentConnectionService.method.setPaymentKey}
      title={ownKey ? "Replace the key" : "Use a key of your own"}
      submit={ownKey ? "Replace the key" : isTest ? CONNECT_TEST : "Connect Stripe"}
      request={(form) => ({
        paymentProvider: "stripe",
        restrictedKey: beginning(form, "restricted_key", ["rk", "sk"], `_${mode}_`),
        webhookSecret: beginning(form, "webhook_secret", ["whsec"], "_"),
      })}
      done={ownKey ? "The key is replaced." : "Stripe is connected."}
    >
      {provider === "manual" && (
        <p>
          <strong>Stripe takes the place of manual payments at once.</strong> What is booked stays
          as it is.
        </p>
      )}
      <ol class="steps">
        <li>
          At Stripe, {isTest && <strong>in its test mode,</strong>} under Developers, make a
          restricted key. It may write checkout sessions, charges and refunds, and read payment
          intents, disputes and the account.
        </li>
        <li>
          Add a webhook endpoint there for the events of checkout sessions, payment intents,
          charges, refunds and the account:
          <Code text={`${location.origin}/webhooks/stripe/${id}`} what="endpoint’s address" />
        </li>
        <li>Enter the key and the endpoint’s secret here. Neither is ever shown again.</li>
      </ol>
      <TextField
        name="restricted_key"
        label="Restricted key"
        type="password"
        hint={`Begins with rk_${mode}_.`}
      />
      <TextField
        name="webhook_secret"
        label="Signing secret"
        type="password"
        hint="Begins with whsec_. Two with a comma between them both count, while one takes the other’s place."
      />
    </RpcDialog>
  );
}

/**
 * Returns the typed text after checking its prefix. Empty texts pass, because the service refuses
 * them.
 *
 * @throws ConnectError at the field if the prefix is wrong
 */
function beginning(
  form: FormData,
  name: string,
  kinds: readonly [string, ...string[]],
  rest: string,
): string {
  const text = textOf(form, name);
  if (text === "" || kinds.some((kind) => text.startsWith(kind + rest))) return text;
  throw fieldError(name, `${name} must begin with ${kinds[0]}${rest}.`);
}

function useCheck() {
  const call = useCall();
  return async () =>
    (await call(PaymentConnectionService.method.checkPaymentConnection, {})).data!.state;
}

export function CheckButton() {
  const check = useCheck();
  const action = useAction(async () => {
    const state = await check();
    toast(`Checked at Stripe: ${CONNECTION_STATES[state][0].toLowerCase()}.`);
  });
  return <ActionButton action={action}>Check now</ActionButton>;
}

/** Reloads and shows the account's state, because the return from Stripe proves no success. */
export function BackFromStripe({ connection }: ConnectionProps) {
  const back = usePlace().query.get(BACK);
  const { id, isTest } = useWorkspace();
  const check = useCheck();
  const action = useAction(async () => {
    if ((await check()) !== READY) return;
    toast(`Stripe takes ${isTest ? "test payments" : "payments"} for this workspace from now on.`);
    navigate(settingsHref("payments", {}, id), { replace: true });
  });
  useEffect(() => {
    if (back === "done") void action.run();
  }, [back]);
  if (action.isRunning) return <Spinner label="Asking Stripe" />;
  if (action.problem)
    return <ProblemNote problem={action.problem} retry={() => void action.run()} />;
  if (back === null || connection.state === READY) return null;
  return (
    <p class="problem attention" role="status">
      {back === "done"
        ? "You are back from Stripe, which does not take payments yet."
        : "That link to Stripe has ended, or was used already. Continue with a new one."}
    </p>
  );
}

const CONNECTION_STATES: Readonly<Record<PaymentConnectionState, Label>> = {
  [UNSPECIFIED]: ["Unknown", "neutral"],
  [ONBOARDING]: ["Not finished", "attention"],
  [READY]: ["Connected", "good"],
  [RESTRICTED]: ["Restricted", "bad"],
  [REVOKED]: ["Access ended", "bad"],
  [NONE]: ["Not connected", "bad"],
};

export function ConnectionBadge({ state }: { readonly state: PaymentConnectionState }) {
  const [text, tone] = CONNECTION_STATES[state] ?? CONNECTION_STATES[UNSPECIFIED];
  return <Badge tone={tone}>{text}</Badge>;
}

export function StripeConnection({ connection }: { readonly connection: PaymentConnection }) {
  const { state, account, live, ownKey, missing, connectedAt, checkedAt } = connection;
  return (
    <>
      <p>{meaningOf(connection)}</p>
      {missing.length > 0 && (
        <div>
          <p>
            {state === READY
              ? "Stripe wants to know this soon, or it stops taking payments:"
              : "Stripe still wants to know:"}
          </p>
          <ul class="links">
            {missingWords(missing).map((words) => (
              <li key={words}>{words}</li>
            ))}
          </ul>
        </div>
      )}
      <DescriptionList
        items={[
          ["Account", account && <Id id={account} />],
          ["Mode", live === undefined ? undefined : live ? "Live" : "Test: no real money moves"],
          ["Access", ownKey ? "By a key of the workspace’s own" : "Through the platform"],
          ["Connected", <Time at={connectedAt} exact />],
          ["Last checked", checkedAt && <Time at={checkedAt} />],
        ]}
      />
    </>
  );
}

function meaningOf({ state, live, ownKey, missing }: PaymentConnection): string {
  switch (state) {
    case READY:
      if (live === false) {
        return "Shipments are paid at a link, with Stripe’s test cards. What was paid is recorded by itself, and what is cancelled is refunded.";
      }
      return "Customers pay by card at a link. What was paid is recorded by itself, and what is cancelled is refunded.";
    case ONBOARDING:
      return "Stripe does not know enough yet to take payments. Nothing can be booked before that.";
    case REVOKED:
      return ownKey
        ? "Stripe does not accept the key any more. Nothing can be booked before it is replaced."
        : "Whoever owns the account has ended the access to it. Nothing can be booked before it is connected again.";
    default:
      return missing.length > 0
        ? "Stripe takes no payments for the account. Nothing can be booked before it knows what is missing."
        : "Stripe takes no payments for the account, and asks for nothing: it may still be checking what it was told. Nothing can be booked meanwhile.";
  }
}
