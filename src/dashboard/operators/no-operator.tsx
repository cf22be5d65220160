import { useAccount } from "../api/session.ts";
import { Empty } from "../ui/empty.tsx";
import { Page } from "../ui/page.tsx";
import { paths } from "../routes/paths.ts";

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
        Ask an owner to make {email} one. Somebody who is one already signs in by a link for
        operators: a link into a workspace opens that workspace alone.
      </Empty>
    </Page>
  );
}
