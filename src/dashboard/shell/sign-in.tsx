import { useEffect, useRef, useState } from "preact/hooks";
import { hasStoredForms } from "../api/stored-forms.ts";
import { sessionEnded } from "../api/session.ts";
import { requestLink, loadOptions, signIn, type Options } from "../api/sign-in.ts";
import { useStore } from "../api/store.ts";
import { useAction } from "../api/use-action.ts";
import { useQuery } from "../api/use-query.ts";
import { paths, withQuery } from "../routes/paths.ts";
import { navigate } from "../routes/router.ts";
import { Button } from "../ui/button.tsx";
import { TextField } from "../ui/fields.tsx";
import { textOf } from "../ui/form-data.ts";
import { Form } from "../ui/form.tsx";
import { useTitle } from "../ui/page.tsx";
import icon from "./icon.svg";
import { storeReturnPath, returnPath } from "./return-path.ts";
import "./sign-in.css";

/**
 * The sign-in page. A sign-in link carries its token after the `#`, which keeps the token out of server logs. The
 * page requires one more click, because link scanners would otherwise use up the token.
 */
export function SignInPage() {
  useTitle("Sign in");
  useEffect(storeReturnPath, []);
  const token = useLinkToken();
  return (
    <main class="sign-in">
      <h1>
        <img src={icon} alt="" width="28" height="28" /> Shipments
      </h1>
      <EndedNote />
      {token === undefined ? <WithoutLink /> : <WithLink token={token} />}
    </main>
  );
}

function EndedNote() {
  if (!useStore(sessionEnded)) return null;
  return (
    <div class="problem attention" role="status">
      <p>
        Your session has expired. Sign in again to return to your page.
        {hasStoredForms() && " Your unsaved changes are kept in this tab."}
      </p>
    </div>
  );
}

function WithLink({ token }: { readonly token: string }) {
  const enter = useAction(async () => {
    await signIn(token);
    navigate(paths.home({}), { replace: true });
  });
  return (
    <>
      <Form action={enter} submit="Sign in">
        <p>You opened a sign-in link. It can be used once, within 15 minutes of its creation.</p>
      </Form>
      {enter.problem && <WithoutLink />}
    </>
  );
}

function WithoutLink() {
  const { data: options, isLoading } = useQuery(loadOptions, []);
  if (options === undefined && isLoading) return null;
  return (
    <>
      {options?.mail && <ByMail />}
      {options?.oidc && <AtProvider {...options.oidc} isFirst={!options.mail} />}
      {!options?.mail && <ByHand />}
      <p>
        Read more: <Guide path="/docs">about this service</Guide>,{" "}
        <Guide path="/docs/signing-in#sign-in-with-a-link">signing in</Guide> and{" "}
        <Guide path="/docs/api">using the API</Guide>.
      </p>
    </>
  );
}

/** A form that requests a sign-in link by email. The confirmation is the same if no account exists. */
function ByMail() {
  const [sentTo, setSentTo] = useState<string>();
  const [isAgain, setAgain] = useState(false);
  const ask = useAction(async (form: FormData) => {
    const email = textOf(form, "email").trim();
    await requestLink(email);
    setSentTo(email);
    setAgain(false);
  });
  if (sentTo !== undefined && !isAgain) {
    return <CheckMail email={sentTo} again={() => setAgain(true)} />;
  }
  return (
    <Form action={ask} submit="Send me a link" name="Sign in by email">
      <TextField
        name="email"
        label="Email"
        type="email"
        value={sentTo}
        autoComplete="email"
        hint="You receive a link that signs you in. No password is needed."
      />
    </Form>
  );
}

function CheckMail(props: { readonly email: string; readonly again: () => void }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  useTitle("Check your email");
  return (
    <section class="check-mail">
      <h2 ref={heading} tabIndex={-1}>
        Check your email
      </h2>
      <p>
        If <strong>{props.email}</strong> has an account here, a link is on its way. It can be used once and expires
        after 15 minutes. Open it in this browser to return to your page.
      </p>
      <p>No email? Check your spam folder and the address. An admin of your workspace can also give you a link.</p>
      <Button onClick={props.again}>Use another email or request a new link</Button>
    </section>
  );
}

/** Explains who provides the sign-in link if the service sends no emails. */
function ByHand() {
  return (
    <>
      <p>
        Sign in with a link that can be used once, within 15 minutes. <strong>Ask an admin of your workspace</strong>{" "}
        for one. Admins create links in the settings.
      </p>
      <p>Open the link in this browser to return to your page.</p>
    </>
  );
}

function Guide(props: { readonly path: string; readonly children: string }) {
  return (
    <a href={props.path} rel="external">
      {props.children}
    </a>
  );
}

function AtProvider({ name, isFirst }: NonNullable<Options["oidc"]> & { readonly isFirst: boolean }) {
  const href = withQuery("/sign-in/oidc", { return_to: returnPath() });
  return (
    <p>
      <a class={isFirst ? "button primary" : "button"} href={href} rel="external">
        Sign in at {name}
      </a>
    </p>
  );
}

/** Returns the token in the URL and removes it from the URL and the history. */
function useLinkToken(): string | undefined {
  const [token, setToken] = useState(readToken);
  useEffect(() => {
    const take = () => {
      const linkToken = readToken();
      if (linkToken === undefined) return;
      setToken(linkToken);
      history.replaceState(null, "", location.pathname);
    };
    take();
    addEventListener("hashchange", take);
    return () => removeEventListener("hashchange", take);
  }, []);
  return token;
}

/** Returns the token of a sign-in link. For a damaged link, returns the whole fragment, which the service refuses. */
function readToken(): string | undefined {
  const fragment = location.hash.slice(1);
  const token = new URLSearchParams(fragment).get("token") ?? undefined;
  // The fragments of other pages name their sections.
  if (token !== undefined || location.pathname !== paths.signIn({})) return token;
  return fragment || undefined;
}

/** Landing page for customers after payment or cancellation. Requires no sign-in. */
export function AfterPaymentPage({ isPaid }: { readonly isPaid: boolean }) {
  const title = isPaid ? "Thank you" : "Not paid";
  useTitle(title);
  return (
    <main class="sign-in">
      <h1>
        <img src={icon} alt="" width="28" height="28" /> {title}
      </h1>
      <p>
        {isPaid
          ? "The sender of the link has been notified. You can close this page."
          : "No payment was made. You can use the same link until it expires, or ask the sender for a new one."}
      </p>
    </main>
  );
}
