import { useAccount } from "../api/session.ts";
import { Empty } from "../parts/empty.tsx";
import { Page } from "../parts/page.tsx";
import { paths } from "../paths.ts";

/** Shown instead of the platform's pages to somebody who is no operator. */
export function NoOperatorPage() {
  const { email } = useAccount();
  return (
    <Page title="Operators only">
      <Empty
        title="You are no operator of the platform"
        action={
          <a class="button" href={paths.home({})}>
            Go to the start
          </a>
        }
      >
        Only operators see these pages. Ask an owner to make {email} one. A link that was made for a
        workspace opens that workspace alone: sign in by another one.
      </Empty>
    </Page>
  );
}
