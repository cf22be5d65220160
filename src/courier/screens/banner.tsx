import { paths } from "./route.ts";
import { useApp } from "./state.ts";

/** Number of unsent updates and the reason, with a link to the queue. */
export function Banner() {
  const { state, t } = useApp();
  const { acts, connection, session } = state;
  if (session === undefined && acts.length === 0) return null;
  const refused = acts.filter(({ conflict }) => conflict !== undefined).length;
  const unsent = acts.length - refused;
  const text = {
    online: unsent > 0 ? t.sending(unsent) : "",
    offline: t.offline(unsent),
    signed_out: t.signedOut(unsent),
    suspended: t.suspended(unsent),
  }[connection];
  const isBad = refused > 0 || connection === "signed_out" || connection === "suspended";
  return (
    <div role="status">
      {(text !== "" || refused > 0) && (
        <a class={`banner ${isBad ? "bad" : ""}`} href={paths.outbox}>
          {text !== "" && <span>{text}</span>}
          {refused > 0 && <strong>{t.refused(refused)}</strong>}
        </a>
      )}
    </div>
  );
}
