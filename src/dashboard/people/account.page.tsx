import { AccountService, type Session } from "../../../gen/shipments/account/v1/account_service_pb.js";
import { useClient } from "../api/clients.ts";
import { account, useAccount } from "../api/session.ts";
import { useAction } from "../api/use-action.ts";
import { useRpc } from "../api/use-query.ts";
import { Button } from "../ui/button.tsx";
import { Badge, DescriptionList } from "../ui/description-list.tsx";
import { Dialog, DialogButton } from "../ui/dialog.tsx";
import { CheckField, TextField } from "../ui/fields.tsx";
import { textOf } from "../ui/form-data.ts";
import { Form } from "../ui/form.tsx";
import { openKeyList } from "../ui/key-list.tsx";
import { Page, Section } from "../ui/page.tsx";
import { type Column, ListView, rowActions } from "../ui/table.tsx";
import { toast } from "../ui/toast.tsx";
import { characterKeys } from "../ui/use-keys.ts";
import { Time } from "../ui/values.tsx";
import { browserText } from "./browser-text.ts";
import { leaveHere } from "./leave-here.ts";

export function AccountPage() {
  return (
    <Page title="Account">
      <div class="stack">
        <Person />
        <Keyboard />
        <Sessions />
      </div>
    </Page>
  );
}

function Person() {
  const { name, email } = useAccount();
  const accounts = useClient(AccountService);
  const rename = useAction(async (form: FormData) => {
    const { data } = await accounts.updateAccount({ name: textOf(form, "name") });
    account.set(data);
    toast("Name updated.");
  });
  return (
    <Section title="You">
      <div class="form narrow">
        <DescriptionList items={[["Email", email]]} />
        <Form action={rename} submit="Save">
          <TextField name="name" label="Name" value={name} autoComplete="name" hint="How other members see you." />
        </Form>
      </div>
    </Section>
  );
}

function Keyboard() {
  return (
    <Section title="Keys">
      <div class="form narrow">
        {!matchMedia("(pointer: coarse)").matches && <Button onClick={openKeyList}>Show keys</Button>}
        <CheckField
          name="character_keys"
          label="Use single-character shortcuts in this browser"
          hint="Ctrl-K, arrow keys and Enter always work."
          checked={characterKeys.get()}
          change={(isOn) => characterKeys.set(isOn)}
        />
      </div>
    </Section>
  );
}

function Sessions() {
  const list = useRpc(AccountService.method.listSessions, {});
  return (
    <Section title="Active sessions">
      <ListView query={list} label="Sessions" columns={COLUMNS} />
    </Section>
  );
}

const COLUMNS: readonly Column<Session>[] = [
  {
    header: "Browser",
    selfEvident: true,
    cell: ({ userAgent, current }) => (
      <>
        <span title={userAgent}>{browserText(userAgent)}</span> {current && <Badge tone="good">This one</Badge>}
      </>
    ),
  },
  { header: "Signed in", cell: ({ createdAt }) => <Time at={createdAt} /> },
  { header: "Last used", cell: ({ lastSeenAt }) => <Time at={lastSeenAt} /> },
  { header: "Ends", cell: ({ endsAt }) => <Time at={endsAt} exact /> },
  rowActions((session) => (
    <DialogButton label={`Sign out: ${browserText(session.userAgent)}`} dialog={<EndDialog session={session} />}>
      Sign out
    </DialogButton>
  )),
];

function EndDialog({ session: { id, userAgent, current } }: { readonly session: Session }) {
  const browser = browserText(userAgent);
  const accounts = useClient(AccountService);
  const end = async () => {
    if (current) return leaveHere();
    await accounts.endSession({ session: id });
    toast(`${browser} signed out.`);
  };
  return (
    <Dialog title={`Sign out ${browser}`} submit="Sign out" tone="danger" run={end}>
      <p>
        {current ? "This browser is signed out." : "The other browser is signed out."} Signing in again requires a new
        link.
      </p>
    </Dialog>
  );
}
