import { hasRole, useWorkspace } from "../api/session.ts";
import { Section } from "../ui/page.tsx";
import { paths } from "../routes/paths.ts";

/** What to do in a workspace that has booked nothing yet. */
export function FirstSteps({ workspace }: { readonly workspace: string }) {
  const isAdmin = hasRole(useWorkspace(), "admin");
  const api = () => <a href={paths.apiKeys({ workspace })}>Settings → API</a>;
  return (
    <Section title="Nothing is booked yet: the first steps">
      <ol class="steps">
        <li>
          <strong>Get a key.</strong>{" "}
          {isAdmin
            ? "Create one for your program on "
            : "An admin of the workspace creates one for your program on "}
          {api()}.
        </li>
        <li>
          <strong>Ask what a delivery costs,</strong> on the map of{" "}
          <a href={paths.book({ workspace })}>Quote and book</a>, or by the command on {api()},
          ready to be copied.
        </li>
        <li>
          <strong>Book it,</strong> with a customer. It appears under{" "}
          <a href={paths.shipments({ workspace })}>Shipments</a> at once.
        </li>
        <li>
          <strong>Be told what happens</strong> by a webhook:{" "}
          <a href={paths.webhooks({ workspace })}>Settings → Webhooks</a>.
        </li>
      </ol>
    </Section>
  );
}
