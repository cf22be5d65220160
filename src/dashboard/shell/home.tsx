import { useEffect, useState } from "preact/hooks";
import { useAccount } from "../api/session.ts";
import { firstPlatformPage } from "./pages.ts";
import { Empty } from "../ui/empty.tsx";
import { Page } from "../ui/page.tsx";
import { paths } from "../routes/paths.ts";
import { navigate } from "../routes/router.ts";
import { takeReturnAddress } from "./return-address.ts";

/** The start: leads on to where the reader was before signing in, or to the first workspace. */
export function HomePage() {
  const account = useAccount();
  const { workspaces, email, operatorRole } = account;
  const first = workspaces.find(({ suspended }) => !suspended) ?? workspaces[0];
  const platform = operatorRole === undefined ? undefined : firstPlatformPage();
  const start = first === undefined ? platform : paths.shipments({ workspace: first.id });
  const [target] = useState(() => takeReturnAddress(account) ?? start);
  useEffect(() => {
    if (target !== undefined) navigate(target, { replace: true });
  }, [target]);
  if (target !== undefined) return null;
  return (
    <Page title="Welcome">
      <Empty title="You are in no workspace yet">
        Ask somebody who manages one to invite {email}, then reload this page.
      </Empty>
    </Page>
  );
}
