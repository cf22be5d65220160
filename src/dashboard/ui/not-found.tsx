import { Empty } from "./empty.tsx";
import { Page } from "./page.tsx";
import { paths } from "../routes/paths.ts";

/** Shown at an address that leads to no page. */
export function NotFoundPage() {
  return (
    <Page title="Page not found">
      <Empty
        title="There is nothing at this address"
        action={
          <a class="button" href={paths.home({})}>
            Go to the start
          </a>
        }
      >
        The link may be mistyped, or what it led to may be gone.
      </Empty>
    </Page>
  );
}
