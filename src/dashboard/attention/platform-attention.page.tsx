import { timestampMs } from "@bufbuild/protobuf/wkt";
import {
  PlatformAttentionKind,
  type PlatformAttentionSubject,
} from "../../../gen/shipments/admin/v1/platform_report_service_pb.js";
import { paths } from "../routes/paths.ts";
import { numberText } from "../ui/format.ts";
import { Time } from "../ui/values.tsx";
import { type AttentionItem, AttentionList, type Kind } from "./attention-list.tsx";

export function PlatformAttentionPage() {
  return (
    <AttentionList
      otherwise="A missing tariff, work on payments that is overdue, mails that wait, webhooks that fail and keys that are about to end appear here."
      kindsOf={({ ofPlatform }) => ofPlatform}
      ofSubject={ITEMS}
      ofKind={wholeOf}
      allOf={(kind, more) => {
        const all = ALL_OF[kind];
        return all && { label: `${numberText(more)} more: ${all[0]}`, href: all[1]() };
      }}
    />
  );
}

const ALL_OF: Readonly<
  Partial<Record<PlatformAttentionKind, readonly [label: string, href: () => string]>>
> = {
  [PlatformAttentionKind.PAYMENT_OVERDUE]: ["health", paths.health],
  [PlatformAttentionKind.PAYMENT_PROVIDER]: ["all workspaces", paths.platformWorkspaces],
  [PlatformAttentionKind.WEBHOOK_FAILING]: ["all workspaces", paths.platformWorkspaces],
  [PlatformAttentionKind.OPERATOR_KEY_ENDING]: ["all operators", paths.operators],
};

/** What concerns the whole platform, and work of which no shipment is named. */
function wholeOf(
  item: Kind<PlatformAttentionKind, PlatformAttentionSubject>,
): AttentionItem | undefined {
  const { kind, count, subjects } = item;
  switch (kind) {
    case PlatformAttentionKind.TARIFF:
      return {
        isBad: true,
        says: "No tariff is in force.",
        besides: "Nothing can be quoted or booked until one is published.",
        link: { label: "See the tariff", href: paths.tariff() },
      };
    case PlatformAttentionKind.MAIL_WAITING:
      return {
        isBad: true,
        says: (
          <>
            {count === 1 ? "A mail waits" : `${numberText(count)} mails wait`} to be sent, the
            oldest since <Time at={subjects[0]?.at} exact />.
          </>
        ),
        besides: "The mail server does not take them. The log says why: “a mail was not sent”.",
      };
    case PlatformAttentionKind.PAYMENT_OVERDUE:
      return {
        isBad: true,
        says: `Notices of payment providers, or accounts at them, wait to be looked at: ${numberText(count)}.`,
        besides:
          "Each is looked at within seconds, unless the provider does not answer or the service is too busy.",
        link: { label: "See health", href: paths.health() },
      };
    default:
      return undefined;
  }
}

const ITEMS: Readonly<
  Partial<Record<PlatformAttentionKind, (subject: PlatformAttentionSubject) => AttentionItem>>
> = {
  [PlatformAttentionKind.PAYMENT_OVERDUE]: (subject) => ({
    isBad: true,
    says: (
      <>
        The payment of <code>{subject.id}</code> of {subject.owner} waits for its provider.
      </>
    ),
    besides: (
      <>
        It could not be asked, or did not do what was to be done, such as a refund.{" "}
        {subject.at && timestampMs(subject.at) < Date.now()
          ? "It was to be tried"
          : "It is tried again"}{" "}
        <Time at={subject.at} exact />.
      </>
    ),
    link: workspaceLink(subject),
  }),
  [PlatformAttentionKind.PAYMENT_PROVIDER]: (subject) => ({
    isBad: true,
    says: `The payment provider of ${subject.owner} takes no payments for it.`,
    besides:
      "It cannot book meanwhile. Its admins see in its settings what the provider wants to know.",
    link: workspaceLink(subject),
  }),
  [PlatformAttentionKind.WEBHOOK_FAILING]: (subject) => ({
    says: (
      <>
        No event of {subject.owner} has arrived at {subject.name} since{" "}
        <Time at={subject.at} exact />.
      </>
    ),
    besides:
      "Its admins are told too. If webhooks of many workspaces fail, look at what the service can reach.",
    link: workspaceLink(subject),
  }),
  [PlatformAttentionKind.OPERATOR_KEY_ENDING]: ({ operator, owner, name, at }) => ({
    says: (
      <>
        The key {name === undefined ? "without a name" : `“${name}”`} of {owner} ends{" "}
        <Time at={at} />.
      </>
    ),
    besides: "Whatever still calls with it needs another key by then.",
    link:
      operator === undefined
        ? undefined
        : { label: "See the keys", href: paths.operator({ operator }), of: `of ${owner}` },
  }),
};

function workspaceLink({ workspace, owner }: PlatformAttentionSubject) {
  if (workspace === undefined) return undefined;
  return { label: "See the workspace", href: paths.platformWorkspace({ workspace }), of: owner };
}
