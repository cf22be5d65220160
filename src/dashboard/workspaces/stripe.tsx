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
import { navigate, useLocation } from "../routes/router.ts";
import { ActionButton } from "../ui/button.tsx";
import { Code, Id, Time } from "../ui/values.tsx";
import { Badge, type Label, DescriptionList } from "../ui/description-list.tsx";
import { Dialog, DialogButton, RpcButton, RpcDialog } from "../ui/dialog.tsx";
import { TextField } from "../ui/fields.tsx";
import { textOf } from "../ui/form-data.ts";
import { ProblemNote, Spinner } from "../ui/page.tsx";
import { toast } from "../ui/toast.tsx";
import { missingWords } from "./missing-words.ts";

const { ONBOARDING, READY, RESTRICTED, REVOKED, NONE, UNSPECIFIED } = PaymentConnectionState;

interface ConnectionProps {
  readonly connection: PaymentConnection;
}

/** Button label in test mode. It names the mode, so that users do not connect their live account. */
const CONNECT_TEST = "Connect Stripe’s test mode";

/** Buttons for admins to create or change a connection, with the most common one last. */
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
          done="Stripe disconnected."
        >
          <p>
            {isTest
              ? "Payments are then recorded manually and no money moves. Existing shipments and your Stripe account do not change."
              : "Manual payments are connected again if they were connected before. Otherwise, bookings are blocked until a provider is connected. Existing shipments, your Stripe account and its balance do not change."}
          </p>
          <p>Not possible while payments or refunds are open.</p>
        </RpcButton>
      )}
      {(!isStripe || ownKey) && (
        <DialogButton primary={ownKey && state === REVOKED} dialog={<KeyDialog {...props} />}>
          {isStripe ? "Replace key" : "Use your own key"}
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

/** Labels of this site's URLs in Stripe's refusals. */
const ADDRESS_LABELS: Labels = new Map(["return_url", "refresh_url"].map((name) => [name, "This site’s URL"]));

/** Query parameter of URLs to which Stripe returns the user. */
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
    <Dialog title={isTest ? CONNECT_TEST : "Connect Stripe"} submit="Continue at Stripe" run={goToStripe}>
      <p>
        {isTest
          ? "The questions are the same as in live mode, but Stripe accepts made-up details. You then return to this page. No real money moves."
          : "Stripe needs details of your business and bank account, which takes a few minutes. You then return to this page. Customers pay directly into your own Stripe account."}
      </p>
      {isTest ? (
        <p>
          <strong>Bookings in test mode are blocked until the setup at Stripe is complete.</strong> Existing shipments
          do not change.
        </p>
      ) : (
        provider !== undefined && (
          <p>
            <strong>Stripe replaces manual payments at once.</strong> Bookings are blocked until Stripe accepts
            payments. Existing shipments do not change.
          </p>
        )
      )}
    </Dialog>
  );
}

/** A dialog for an API key of the workspace's Stripe account. The key is never shown again. */
function KeyDialog({ connection: { provider, ownKey } }: ConnectionProps) {
  const { id, isTest } = useWorkspace();
  const mode = isTest ? "test" : "live";
  return (
    <RpcDialog
      method={PaymentConnectionService.method.setPaymentKey}
      title={ownKey ? "Replace key" : "Use your own key"}
      submit={ownKey ? "Replace key" : isTest ? CONNECT_TEST : "Connect Stripe"}
      request={(form) => ({
        paymentProvider: "stripe",
        restrictedKey: beginning(form, "restricted_key", ["rk", "sk"], `_${mode}_`),
        webhookSecret: beginning(form, "webhook_secret", ["whsec"], "_"),
      })}
      done={ownKey ? "Key replaced." : "Stripe connected."}
    >
      {provider === "manual" && (
        <p>
          <strong>Stripe replaces manual payments at once.</strong> Existing shipments do not change.
        </p>
      )}
      <ol class="steps">
        <li>
          At Stripe, {isTest && <strong>in its test mode,</strong>} under Developers, create a restricted key that can
          write checkout sessions, charges and refunds, and read payment intents, disputes and the account.
        </li>
        <li>
          Add a webhook endpoint there for the events of checkout sessions, payment intents, charges, refunds and the
          account:
          <Code text={`${location.origin}/webhooks/stripe/${id}`} what="endpoint’s address" />
        </li>
        <li>Enter the key and the endpoint’s secret here. Neither is ever shown again.</li>
      </ol>
      <TextField name="restricted_key" label="Restricted key" type="password" hint={`Begins with rk_${mode}_.`} />
      <TextField
        name="webhook_secret"
        label="Signing secret"
        type="password"
        hint="Begins with whsec_. During a rotation, enter both secrets separated by a comma."
      />
    </RpcDialog>
  );
}

/**
 * Returns the typed text if its prefix is allowed. Empty texts pass, because the service refuses them.
 *
 * @throws ConnectError at the field if the prefix is wrong
 */
function beginning(form: FormData, name: string, kinds: readonly [string, ...string[]], rest: string): string {
  const text = textOf(form, name);
  if (text === "" || kinds.some((kind) => text.startsWith(kind + rest))) return text;
  throw fieldError(name, `${name} must begin with ${kinds[0]}${rest}.`);
}

function useCheck() {
  const call = useCall();
  return async () => (await call(PaymentConnectionService.method.checkPaymentConnection, {})).data!.state;
}

export function CheckButton() {
  const check = useCheck();
  const action = useAction(async () => {
    const state = await check();
    toast(`Checked at Stripe: ${CONNECTION_STATES[state][0].toLowerCase()}.`);
  });
  return <ActionButton action={action}>Check now</ActionButton>;
}

/** Shown after returning from Stripe, which proves no success. Reloads and shows the account's state. */
export function BackFromStripe({ connection }: ConnectionProps) {
  const back = useLocation().query.get(BACK);
  const { id, isTest } = useWorkspace();
  const check = useCheck();
  const action = useAction(async () => {
    if ((await check()) !== READY) return;
    toast(`Stripe now accepts ${isTest ? "test payments" : "payments"} for this workspace.`);
    navigate(settingsHref("payments", {}, id), { replace: true });
  });
  useEffect(() => {
    if (back === "done") void action.run();
  }, [back]);
  if (action.isRunning) return <Spinner label="Checking Stripe" />;
  if (action.problem) return <ProblemNote problem={action.problem} retry={() => void action.run()} />;
  if (back === null || connection.state === READY) return null;
  return (
    <p class="problem attention" role="status">
      {back === "done"
        ? "You returned from Stripe. The account cannot accept payments yet."
        : "The link to Stripe has expired or was already used. Continue with a new one."}
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
              ? "Stripe will soon stop accepting payments without these details:"
              : "Stripe still needs:"}
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
          ["Access", ownKey ? "With the workspace’s own key" : "Through the platform"],
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
        return "Shipments are paid through a link, with Stripe’s test cards. The service records payments and refunds cancelled shipments.";
      }
      return "Customers pay by card through a link. The service records payments and refunds cancelled shipments.";
    case ONBOARDING:
      return "Stripe needs more details before it accepts payments. Until then, bookings are blocked.";
    case REVOKED:
      return ownKey
        ? "Stripe no longer accepts the key. Bookings are blocked until you replace it."
        : "The account’s owner has revoked access. Bookings are blocked until you connect it again.";
    default:
      return missing.length > 0
        ? "Stripe does not accept payments for the account. Bookings are blocked until you provide the missing details."
        : "Stripe does not accept payments for the account yet. It may still be checking your details. Until then, bookings are blocked.";
  }
}
