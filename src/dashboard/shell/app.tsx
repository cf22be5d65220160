import { useEffect, useState } from "preact/hooks";
import { accountProblem, loadAccount } from "../api/sign-in.ts";
import { PERSON_KEY, account, SignedIn, useAccount, WorkspaceId } from "../api/session.ts";
import { connected } from "../api/connection.ts";
import { useStore } from "../api/store.ts";
import { componentOf, findPage, isPlatformPath, loadPage } from "./pages.ts";
import { AfterPaymentPage, SignInPage } from "./sign-in.tsx";
import { HomePage, NoOperatorPage } from "./home.tsx";
import { NotFoundPage } from "../ui/page.tsx";
import { Layout } from "./layout.tsx";
import { OpenDialog } from "../ui/dialog.tsx";
import { keepFocus } from "../ui/keep-focus.ts";
import { reloadOnce } from "../ui/lazily.tsx";
import { ProblemNote, Spinner } from "../ui/query-view.tsx";
import { Toasts } from "../ui/toast.tsx";
import { paths, workspaceIn } from "../routes/paths.ts";
import { usePlace } from "../routes/router.ts";
import "./sign-in.css";

/**
 * How a page is written.
 *
 * 1. `routes/pages.ts` has its address, and its place in the navigation, if it has one. Every view has an
 *    address: what a reader filters, opens or pages to goes into the query by `changeQuery` and is read by
 *    `usePlace().query`. Links are `<a href={paths.x({...})}>`.
 * 2. The page is the component `XPage` of `x.page.tsx` in the folder of its feature; parameters of the path
 *    are its props, `ParametersOf<"x">`. It renders `<Page title="...">`, which holds the heading and what can be done.
 * 3. It loads by `useRpc(SomeService.method.getIt, request)`, and shows the result by
 *    `<QueryView query={query}>{(data) => ...}</QueryView>`, which has the states of waiting and failing.
 *    Lists are a `<ListView>` below `<Filters>`, with an `<Empty>` that says what to do next; a page about
 *    one record is a `<DetailPage>`. `useLive(query.reload)` keeps up with what others do.
 * 4. Changes are made in an `<RpcDialog>`, which a `<DialogButton>` opens, or by a `useAction` in a `<Form>` of
 *    the page. Fields are named as the fields of the request, and then the service's refusals appear at them
 *    by themselves. Whatever cannot be taken back is asked for first. `toast()` says that it is done.
 * 5. What a role may not do is not shown: `useRole("admin")` asks. The service refuses it
 *    anyway.
 * 6. Amounts are `<Money>`, times `<Time>`, states `<Badge>`.
 * 7. Maps are `<CoverageMap>`, or `<LazyMap>` with layers of one's own. Single keys are `useKeys`.
 * 8. Colours and sizes come from the variables of `theme.css`, which the documents share. The stylesheet
 *    of a part stands beside it and is imported by it. Inline `style` attributes, event handlers as
 *    text and anything from another host are blocked.
 * 9. Each page has a test in `test/dashboard` by `describeDashboard`, which ends each of its views with
 *    `expectWellShown(page, "name")`. `SCREENSHOTS=folder npx vitest run --config test/vitest.config.ts
 *    test/dashboard` leaves the pictures: look at them.
 */
export function App() {
  const person = useStore(account);
  const { pathname } = usePlace();
  useEffect(followAccount, []);
  useEffect(keepFocus, []);
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
          {/* Made anew for another person, who has signed in in another tab. */}
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
 * Asks who has signed in, again each time that a lost connection is back, the page is looked at again,
 * or another tab has signed in or out. Returns an unsubscribe function.
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
  const found = findPage(pathname);
  const name = found?.name;
  const Component = name && componentOf(name);
  useEffect(() => {
    // By what was rendered: the code may have come since then, and then it is time to render again.
    if (name === undefined || Component !== undefined) return;
    loadPage(name).then(() => setRound((last) => last + 1), reloadOnce);
  }, [name]);
  if (pathname === paths.home({})) return <HomePage />;
  if (isPlatformPath(pathname) && operatorRole === undefined) return <NoOperatorPage />;
  if (found === undefined) return <NotFoundPage />;
  if (Component === undefined) return <Spinner label="Loading the page" />;
  return <Component {...found.parameters} />;
}

function ConnectionNote() {
  const isConnected = useStore(connected);
  return (
    <div role="status" class="connection-note" hidden={isConnected}>
      {!isConnected && "The service cannot be reached. This page reconnects by itself."}
    </div>
  );
}
