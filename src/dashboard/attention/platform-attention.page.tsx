import { timestampMs } from "@bufbuild/protobuf/wkt";
import {
  PlatformAttentionKind,
  type PlatformAttentionSubject,
} from "../../../gen/shipments/admin/v1/platform_report_service_pb.js";
import { paths } from "../routes/paths.ts";
import { numberText } from "../ui/format.ts";
import type { Link } from "../ui/page.tsx";
import { Time } from "../ui/values.tsx";
import { AttentionList, type Group, type Kind } from "./attention-list.tsx";

export function PlatformAttentionPage() {
  return (
    <AttentionList
      otherwise="A missing tariff, work on payments that is overdue, mails that wait, webhooks that fail and keys that are about to end appear here."
      kindsOf={({ ofPlatform }) => ofPlatform}
      groupOf={groupOf}
    />
  );
}

type KindText = Omit<Group<PlatformAttentionSubject>, "all"> & { readonly all: () => Link };

const allWorkspaces = () => ({ label: "All workspaces", href: paths.platformWorkspaces({}) });

const KINDS: Readonly<Partial<Record<PlatformAttentionKind, KindText>>> = {
  [PlatformAttentionKind.TARIFF]: {
    title: "No tariff is in force.",
    besides: "Nothing can be quoted or booked until one is published.",
    all: () => ({ label: "See the tariff", href: paths.tariff({}) }),
  },
  [PlatformAttentionKind.PAYMENT_OVERDUE]: {
    title: "Work on payments that is overdue",
    isBad: true,
    besides:
      "The provider could not be asked, or did not do what was to be done, such as a refund.",
    row: (subject) => ({
      name: (
        <>
          <code>{subject.id}</code> of {subject.owner}
        </>
      ),
      href: workspaceHref(subject),
      note: (
        <>
          {subject.at && timestampMs(subject.at) < Date.now()
            ? "was to be tried"
            : "is tried again"}{" "}
          <Time at={subject.at} exact />
        </>
      ),
    }),
    all: () => ({ label: "See health", href: paths.health({}) }),
  },
  [PlatformAttentionKind.PAYMENT_PROVIDER]: {
    title: "Workspaces without payments",
    isBad: true,
    besides:
      "Their payment provider takes no payments for them, so they cannot book. Their admins see in the settings what it wants to know.",
    row: (subject) => ({ name: subject.owner, href: workspaceHref(subject) }),
    all: allWorkspaces,
  },
  [PlatformAttentionKind.WEBHOOK_FAILING]: {
    title: "Failing webhooks",
    besides:
      "No event arrives. Their admins are told too. If webhooks of many workspaces fail, look at what the service can reach.",
    row: (subject) => ({
      name: subject.owner,
      href: workspaceHref(subject),
      note: (
        <>
          {subject.name} since <Time at={subject.at} exact />
        </>
      ),
    }),
    all: allWorkspaces,
  },
  [PlatformAttentionKind.OPERATOR_KEY_ENDING]: {
    title: "Keys about to end",
    besides: "Whatever still calls with them needs another key by then.",
    row: ({ operator, owner, name, at }) => ({
      name: `${name ?? "A key without a name"} of ${owner}`,
      href: operator === undefined ? undefined : paths.operator({ operator }),
      note: (
        <>
          ends <Time at={at} />
        </>
      ),
    }),
    all: () => ({ label: "All operators", href: paths.operators({}) }),
  },
};

function groupOf({
  kind,
  count,
  subjects,
}: Kind<PlatformAttentionKind, PlatformAttentionSubject>):
  | Group<PlatformAttentionSubject>
  | undefined {
  if (kind === PlatformAttentionKind.MAIL_WAITING) return mails(count, subjects[0]);
  const text = KINDS[kind];
  if (text === undefined) return undefined;
  const isNotice = kind === PlatformAttentionKind.PAYMENT_OVERDUE && subjects.length === 0;
  const besides = isNotice
    ? `Notices of payment providers, or accounts at them, wait to be looked at: ${numberText(count)}. Each is looked at within seconds, unless the provider does not answer or the service is too busy.`
    : text.besides;
  return { ...text, besides, all: text.all() };
}

function mails(
  count: number,
  oldest: PlatformAttentionSubject | undefined,
): Group<PlatformAttentionSubject> {
  const besides = (
    <>
      {count === 1 ? "A mail waits" : `${numberText(count)} mails wait`} to be sent, the oldest
      since <Time at={oldest?.at} exact />. The mail server does not take them. The log says why: “a
      mail was not sent”.
    </>
  );
  return { title: "Mails that wait", besides };
}

function workspaceHref({ workspace }: PlatformAttentionSubject): string | undefined {
  return workspace === undefined ? undefined : paths.platformWorkspace({ workspace });
}
