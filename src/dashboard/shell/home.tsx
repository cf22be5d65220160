import { useEffect, useState } from "preact/hooks";
import { useAccount } from "../api/session.ts";
import { paths } from "../routes/paths.ts";
import { navigate } from "../routes/router.ts";
import { Empty, Page, TO_START } from "../ui/page.tsx";
import { popReturnPath } from "./return-path.ts";

/** The start page. Redirects to the page visited before signing in, or to the first workspace. */
export function HomePage() {
  const account = useAccount();
  const { workspaces, email, operatorRole } = account;
  const first = workspaces.find(({ suspended }) => !suspended) ?? workspaces[0];
  const platform = operatorRole === undefined ? undefined : paths.platform({});
  const start = first === undefined ? platform : paths.shipments({ workspace: first.id });
  const [target] = useState(() => popReturnPath(account) ?? start);
  useEffect(() => {
    if (target !== undefined) navigate(target, { replace: true });
  }, [target]);
  if (target !== undefined) return null;
  return (
    <Page title="Welcome">
      <Empty title="You are not in a workspace yet">
        Ask a workspace admin to invite {email}, then reload this page.
      </Empty>
    </Page>
  );
}

export function NoOperatorPage() {
  const { email } = useAccount();
  return (
    <Page title="Operators only">
      <Empty title="You are not an operator of the platform" link={TO_START}>
        Ask an owner to make {email} an operator. If you already are one, sign in with an operator link. A workspace
        link opens only that workspace.
      </Empty>
    </Page>
  );
}
