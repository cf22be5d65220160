/**
 * CONTRIBUTING.md, "Common changes", describes how to write a page. In addition:
 *
 * - Irreversible actions require confirmation. `toast()` reports success. `useLive(query.reload)` reloads after
 *   changes by others.
 * - Amounts are `<Money>`, times `<Time>`, states `<Badge>`. Single-key shortcuts are `useKeys`.
 * - Maps are `<CoverageMap>`, or `<LazyMap>` with custom layers.
 * - Colors and sizes are variables of `theme.css`, which the documents share. The pages' policy blocks inline
 *   `style` attributes, inline event handlers and resources from other hosts.
 * - `SCREENSHOTS=folder npx vitest run --config test/vitest.config.ts test/dashboard` saves screenshots to review.
 */
import { useEffect, useState } from "preact/hooks";
import { accountProblem, loadAccount } from "../api/sign-in.ts";
import { PERSON_KEY } from "../api/person-key.ts";
import { account, SignedIn, useAccount, useIsTest, WorkspaceId } from "../api/session.ts";
import { connected } from "../api/connection.ts";
import { useStore } from "../api/store.ts";
import { componentOf, findPage, isOfTestMode, isPlatformPath, loadPage } from "./pages.ts";
import { NotFoundPage, ProblemNote, Spinner } from "../ui/page.tsx";
import { Layout } from "./layout.tsx";
import { OpenDialog } from "../ui/dialog.tsx";
import { preserveFocus } from "../ui/preserve-focus.ts";
import { lazily, reloadOnce } from "../ui/lazily.tsx";
import { Toasts } from "../ui/toast.tsx";
import { paths, workspaceIn } from "../routes/paths.ts";
import { useLocation } from "../routes/router.ts";
import "./sign-in.css";

const home = () => import("./home.tsx");
const HomePage = lazily(home, "HomePage");
const NoOperatorPage = lazily(home, "NoOperatorPage");
const signIn = () => import("./sign-in.tsx");
const SignInPage = lazily(signIn, "SignInPage");
const AfterPaymentPage = lazily(signIn, "AfterPaymentPage");

export function App() {
  const person = useStore(account);
  const { pathname } = useLocation();
  useEffect(followAccount, []);
  useEffect(preserveFocus, []);
  return (
    <>
      <ConnectionNote />
      {pathname === paths.paid({}) || pathname === paths.notPaid({}) ? (
        <AfterPaymentPage isPaid={pathname === paths.paid({})} />
      ) : pathname === paths.signIn({}) || person === null ? (
        <SignInPage />
      ) : person === undefined ? (
        <Arriving />
      ) : (
        <SignedIn.Provider value={person}>
          {/* The key remounts the page when another person signs in from another tab. */}
          <CurrentPage key={String(person.id)} pathname={pathname} />
        </SignedIn.Provider>
      )}
      <Toasts />
    </>
  );
}

function Arriving() {
  const problem = useStore(accountProblem);
  if (problem === undefined) return <Spinner label="Signing in" />;
  return (
    <main class="sign-in">
      <ProblemNote problem={problem} retry={() => void loadAccount()} />
    </main>
  );
}

function loadIfVisible(): void {
  if (document.visibilityState === "visible") void loadAccount();
}

function loadIfPersonChanged({ key }: StorageEvent): void {
  if (key === PERSON_KEY) void loadAccount();
}

/**
 * Loads the account at startup, after a reconnect, when the page becomes visible, and when another
 * tab signs in or out. Returns an unsubscribe function.
 */
function followAccount(): () => void {
  void loadAccount();
  document.addEventListener("visibilitychange", loadIfVisible);
  addEventListener("storage", loadIfPersonChanged);
  const unsubscribe = connected.subscribe(() => {
    if (connected.get()) void loadAccount();
  });
  return () => {
    document.removeEventListener("visibilitychange", loadIfVisible);
    removeEventListener("storage", loadIfPersonChanged);
    unsubscribe();
  };
}

function CurrentPage({ pathname }: { readonly pathname: string }) {
  const workspace = workspaceIn(pathname);
  return (
    <WorkspaceId.Provider value={workspace}>
      <Layout>
        <PageAt key={pathname} pathname={pathname} />
        <OpenDialog key={`${pathname} dialog`} />
      </Layout>
    </WorkspaceId.Provider>
  );
}

function PageAt({ pathname }: { readonly pathname: string }) {
  const [, setRound] = useState(0);
  const { operatorRole } = useAccount();
  const isTest = useIsTest();
  const found = findPage(pathname);
  const name = found?.name;
  const Component = name && componentOf(name);
  useEffect(() => {
    // Check the component rendered, because the code may have loaded since.
    if (name === undefined || Component !== undefined) return;
    loadPage(name).then(() => setRound((last) => last + 1), reloadOnce);
  }, [name]);
  if (pathname === paths.home({})) return <HomePage />;
  if (isPlatformPath(pathname) && operatorRole === undefined) return <NoOperatorPage />;
  if (found === undefined || (isOfTestMode(found.name) && !isTest)) return <NotFoundPage />;
  if (Component === undefined) return <Spinner label="Loading the page" />;
  return <Component {...found.parameters} />;
}

function ConnectionNote() {
  const isConnected = useStore(connected);
  return (
    <div role="status" class="connection-note" hidden={isConnected}>
      {!isConnected && "The service cannot be reached. This page reconnects automatically."}
    </div>
  );
}
