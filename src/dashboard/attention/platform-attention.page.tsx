import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { JSX } from "preact";
import {
  PlatformAttentionKind,
  type PlatformAttention,
  type PlatformAttentionSubject,
} from "../../../gen/shipments/admin/v1/platform_report_service_pb.js";
import { paths } from "../routes/paths.ts";
import { numberText } from "../ui/format.ts";
import type { Link } from "../ui/page.tsx";
import { Time } from "../ui/values.tsx";
import { AttentionItem, AttentionList, MoreItems } from "./attention-list.tsx";

export function PlatformAttentionPage() {
  return (
    <AttentionList
      otherwise="A missing tariff, work on payments that is overdue, mails that wait, webhooks that fail and keys that are about to end appear here."
      itemsOf={({ ofPlatform }) => ofPlatform.map((item) => <OfKind key={item.kind} {...item} />)}
    />
  );
}

function OfKind(item: PlatformAttention) {
  const { kind, count, subjects } = item;
  const OfSubject = SHOWN[kind];
  if (OfSubject === undefined) return <Unnamed {...item} />;
  const more = count - subjects.length;
  const all = ALL_OF[kind];
  return (
    <>
      {subjects.map((subject) => (
        <OfSubject key={`${subject.workspace} ${subject.id}`} {...subject} />
      ))}
      {more > 0 && subjects.length === 0 && <OverdueWork count={more} />}
      {more > 0 && subjects.length > 0 && all && (
        <MoreItems href={all.href}>
          {numberText(more)} more: {all.label}
        </MoreItems>
      )}
    </>
  );
}

/** Work on payments that is overdue, of which no shipment is named: notices, and accounts to be checked. */
function OverdueWork({ count }: { readonly count: number }) {
  return (
    <AttentionItem
      bad
      says={`Notices of payment providers, or accounts at them, wait to be looked at: ${numberText(count)}.`}
      besides="Each is looked at within seconds, unless the provider does not answer or the service is too busy."
    >
      <a class="button" href={paths.health({})}>
        See health
      </a>
    </AttentionItem>
  );
}

/** Where all of a kind are listed, of which there can be more than are named. */
const ALL_OF: Readonly<Partial<Record<PlatformAttentionKind, Link>>> = {
  [PlatformAttentionKind.PAYMENT_OVERDUE]: { label: "health", href: paths.health({}) },
  [PlatformAttentionKind.PAYMENT_PROVIDER]: {
    label: "all workspaces",
    href: paths.platformWorkspaces({}),
  },
  [PlatformAttentionKind.WEBHOOK_FAILING]: {
    label: "all workspaces",
    href: paths.platformWorkspaces({}),
  },
  [PlatformAttentionKind.OPERATOR_KEY_ENDING]: {
    label: "all operators",
    href: paths.operators({}),
  },
};

/** What concerns the whole platform; kinds that later services know are not shown. */
function Unnamed({ kind, count, subjects }: PlatformAttention) {
  if (kind === PlatformAttentionKind.TARIFF) {
    return (
      <AttentionItem
        bad
        says="No tariff is in force."
        besides="Nothing can be quoted or booked until one is published."
      >
        <a class="button" href={paths.tariff({})}>
          See the tariff
        </a>
      </AttentionItem>
    );
  }
  if (kind !== PlatformAttentionKind.MAIL_WAITING) return null;
  return (
    <AttentionItem
      bad
      says={
        <>
          {count === 1 ? "A mail waits" : `${numberText(count)} mails wait`} to be sent, the oldest
          since <Time at={subjects[0]?.at} exact />.
        </>
      }
      besides="The mail server does not take them. The log says why: “a mail was not sent”."
    />
  );
}

const SHOWN: Readonly<
  Partial<Record<PlatformAttentionKind, (subject: PlatformAttentionSubject) => JSX.Element>>
> = {
  [PlatformAttentionKind.PAYMENT_OVERDUE]: ({ workspace, owner, id, at }) => (
    <AttentionItem
      bad
      says={
        <>
          The payment of <code>{id}</code> of {owner} waits for its provider.
        </>
      }
      besides={
        <>
          It could not be asked, or did not do what was to be done, such as a refund.{" "}
          {at && timestampMs(at) < Date.now() ? "It was to be tried" : "It is tried again"}{" "}
          <Time at={at} exact />.
        </>
      }
    >
      <WorkspaceLink {...{ workspace, owner }} />
    </AttentionItem>
  ),
  [PlatformAttentionKind.PAYMENT_PROVIDER]: ({ workspace, owner }) => (
    <AttentionItem
      bad
      says={`The payment provider of ${owner} takes no payments for it.`}
      besides="It cannot book meanwhile. Its admins see in its settings what the provider wants to know."
    >
      <WorkspaceLink {...{ workspace, owner }} />
    </AttentionItem>
  ),
  [PlatformAttentionKind.WEBHOOK_FAILING]: ({ workspace, owner, name, at }) => (
    <AttentionItem
      says={
        <>
          No event of {owner} has arrived at {name} since <Time at={at} exact />.
        </>
      }
      besides="Its admins are told too. If webhooks of many workspaces fail, look at what the service can reach."
    >
      <WorkspaceLink {...{ workspace, owner }} />
    </AttentionItem>
  ),
  [PlatformAttentionKind.OPERATOR_KEY_ENDING]: ({ operator, owner, name, at }) => (
    <AttentionItem
      says={
        <>
          The key {name === undefined ? "without a name" : `“${name}”`} of {owner} ends{" "}
          <Time at={at} />.
        </>
      }
      besides="Whatever still calls with it needs another key by then."
    >
      {operator !== undefined && (
        <a
          class="button"
          href={paths.operator({ operator })}
          aria-label={`See the keys of ${owner}`}
        >
          See the keys
        </a>
      )}
    </AttentionItem>
  ),
};

function WorkspaceLink(props: Pick<PlatformAttentionSubject, "workspace" | "owner">) {
  const { workspace, owner } = props;
  if (workspace === undefined) return null;
  return (
    <a
      class="button"
      href={paths.platformWorkspace({ workspace })}
      aria-label={`See the workspace ${owner}`}
    >
      See the workspace
    </a>
  );
}
