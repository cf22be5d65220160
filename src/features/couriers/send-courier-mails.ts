import type { LeasedQueue, WorkItem } from "../../db/leased-queue.ts";
import { type DueRow, findDue } from "../../db/platform-reads.ts";
import { runStatement } from "../../db/statement.ts";
import type { MailContent } from "../../domain/mail-html.ts";
import { hashKey } from "../../domain/secret-key.ts";
import { createMailQueue, type LeasedMail, messageIdOf, type SendMailsDeps } from "../mails/mail-queue.ts";
import { IS_LIVE_OF } from "../workspaces/workspace.entity.ts";
import type { CourierMail } from "./courier-mail.ts";
import { createCourierToken } from "./courier-token.ts";

interface SendCourierMailsDeps extends SendMailsDeps {
  /** Returns the content of an email in the courier's language. */
  readonly contentOf: (mail: CourierMail & { readonly locale: string | null }) => MailContent;
}

/** Maximum number of concurrent emails per workspace, as for recipients. */
const WORKSPACE_CONCURRENCY = 2;
/** Age after which a link is no longer sent, in milliseconds. */
const LIFETIME_MS = 24 * 60 * 60_000;

const FIND_DUE = `
  select workspace_id::float8 as workspace, id as reference, extract(epoch from next_attempt_at)::float8 as due
  from courier_link
  where state = 'waiting' and next_attempt_at <= now() and workspace_id <> all($2::bigint[])
  order by next_attempt_at limit $1::int`;

/** Finds the courier of an active link who still has an email. */
const FIND = `
  select courier.email as to, courier.locale, live.name as sender, live.time_zone as "timeZone",
    link.ends_at as "expiresAt"
  from courier_link as link
    join courier on courier.workspace_id = link.workspace_id and courier.id = link.courier_id
    join workspace on workspace.id = link.workspace_id
    join workspace as live on ${IS_LIVE_OF}
  where link.workspace_id = $1 and link.id = $2 and link.ends_at > now() and courier.email is not null`;

/** Stores the token of an attempt, unless another process has started the next attempt. */
const SET_TOKEN = `
  update courier_link set hash = $3
  where workspace_id = $1 and id = $2 and ends_at > now() and attempts = $4 returning 1`;

interface FoundCourier {
  readonly to: string;
  readonly locale: string | null;
  readonly sender: string;
  readonly timeZone: string;
  readonly expiresAt: string;
}

interface LeasedCourierMail extends LeasedMail {
  readonly workspace: number;
  readonly id: string;
}

/**
 * Creates the queue that sends links to couriers. Each attempt creates a new token, because tokens are not stored. A link
 * is deleted instead if it was revoked or the courier's email was removed.
 */
export function createCourierMailQueue(deps: SendCourierMailsDeps): LeasedQueue {
  return createMailQueue<LeasedCourierMail>(
    {
      name: "courier_mails",
      table: "courier_link",
      key: ["workspace_id", "id"],
      columns: "workspace_id::float8 as workspace, id",
      workspaceConcurrency: WORKSPACE_CONCURRENCY,
      find: ({ limit, exceptWorkspaces: except }) =>
        findDue<WorkItem & DueRow>(deps.em, { sql: FIND_DUE, values: [limit, except] }, limit),
      keyOf: ({ workspace, reference }) => [workspace, reference],
      lifetimeMs: () => LIFETIME_MS,
      write: (leased) => writeCourierMail(deps, leased),
    },
    deps,
  );
}

async function writeCourierMail({ em, publicUrl, contentOf }: SendCourierMailsDeps, mail: LeasedCourierMail) {
  const key = [mail.workspace, mail.id];
  const [found] = await runStatement<FoundCourier>(em, FIND, key);
  if (found === undefined) return undefined;
  const token = createCourierToken(mail.workspace);
  if ((await runStatement(em, SET_TOKEN, [...key, hashKey(token), mail.attempts])).length === 0) return undefined;
  const { to, expiresAt } = found;
  const content = contentOf({ ...found, url: `${publicUrl}/c#${token}`, expiresAt: new Date(expiresAt) });
  // Each attempt has its own id, because only the token of the last one is valid.
  const messageId = messageIdOf(`${mail.id}.${mail.createdMs}.${mail.attempts}`, publicUrl);
  return { mail: { ...content, messageId, to } };
}
