import { timestampMs } from "@bufbuild/protobuf/wkt";
import {
  PlatformAttentionKind,
  type PlatformAttentionSubject,
} from "../../../gen/shipments/admin/v1/platform_report_service_pb.js";
import { paths } from "../routes/paths.ts";
import type { Link } from "../ui/page.tsx";
import { takenText } from "../ui/taken-text.ts";
import { Time } from "../ui/values.tsx";
import { AttentionList, type Group, type Kind, TimeNote } from "./attention-list.tsx";
import { cappedText } from "./attention-query.ts";

export function PlatformAttentionPage() {
  return (
    <AttentionList
      otherwise="A missing tariff, overdue payment tasks, unsent emails, failing webhooks, expiring keys and busy slots appear here automatically."
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
    explanation: "Quotes and bookings are blocked until one is published.",
    all: () => ({ label: "See the tariff", href: paths.tariff({}) }),
  },
  [PlatformAttentionKind.PAYMENT_OVERDUE]: {
    title: "Overdue payment tasks",
    isBad: true,
    explanation: "The provider could not be reached, or did not complete a task such as a refund.",
    row: (subject) => ({
      name: (
        <>
          <code>{subject.id}</code> of {subject.owner}
        </>
      ),
      href: workspaceHref(subject),
      note: (
        <TimeNote
          what={subject.at && timestampMs(subject.at) < Date.now() ? "was due for a retry" : "will be retried"}
          at={subject.at}
          exact
        />
      ),
    }),
    all: () => ({ label: "See health", href: paths.health({}) }),
  },
  [PlatformAttentionKind.PAYMENT_PROVIDER]: {
    title: "Workspaces without payments",
    isBad: true,
    explanation:
      "Their payment provider does not accept payments for them, so they cannot book. Their admins find the missing details in the settings.",
    row: (subject) => ({ name: subject.owner, href: workspaceHref(subject) }),
    all: allWorkspaces,
  },
  [PlatformAttentionKind.WEBHOOK_FAILING]: {
    title: "Failing and disabled webhooks",
    explanation:
      "Deliveries to these webhooks fail, or failed until the webhook was disabled. If many workspaces are affected, check the service’s network access.",
    row: (subject) => ({
      name: subject.owner,
      href: workspaceHref(subject),
      note: <TimeNote what={<>{subject.name} since</>} at={subject.at} exact />,
    }),
    all: allWorkspaces,
  },
  [PlatformAttentionKind.OPERATOR_KEY_ENDING]: {
    title: "Expiring keys",
    explanation: "API clients that use these keys need new ones before they expire.",
    row: ({ operator, owner, name, at }) => ({
      name: `${name ?? "Unnamed key"} of ${owner}`,
      href: operator === undefined ? undefined : paths.operator({ operator }),
      note: <TimeNote what="ends" at={at} />,
    }),
    all: () => ({ label: "All operators", href: paths.operators({}) }),
  },
  [PlatformAttentionKind.BUSY_SLOT]: {
    title: "Busy slots",
    explanation:
      "These slots of the next 24 hours are over 90% full, or exceed the alert of their schedule. Change their capacity, or send more couriers.",
    row: ({ name = "", at, taken = 0, capacity, unit }) => ({
      name,
      href: paths.slots({}, { schedule: name }),
      note: <TimeNote what={`${takenText(taken, capacity, unit)} taken, starts`} at={at} exact />,
    }),
    all: () => ({ label: "All slots", href: paths.slots() }),
  },
};

function groupOf({
  kind,
  count,
  subjects,
}: Kind<PlatformAttentionKind, PlatformAttentionSubject>): Group<PlatformAttentionSubject> | undefined {
  if (kind === PlatformAttentionKind.MAIL_WAITING) return mails(count, subjects[0]);
  const text = KINDS[kind];
  if (text === undefined) return undefined;
  const isWithoutSubjects = kind === PlatformAttentionKind.PAYMENT_OVERDUE && subjects.length === 0;
  const explanation = isWithoutSubjects
    ? `Events or accounts of payment providers waiting to be processed: ${cappedText(count)}. Processing takes seconds unless the provider does not respond or the service is overloaded.`
    : text.explanation;
  return { ...text, explanation, all: text.all() };
}

function mails(count: number, oldest: PlatformAttentionSubject | undefined): Group<PlatformAttentionSubject> {
  const explanation = (
    <>
      {count === 1 ? "1 email is waiting" : `${cappedText(count)} emails are waiting`} to be sent, the oldest since{" "}
      <Time at={oldest?.at} exact />. The mail server rejects them. The log contains the reason: “an email was not
      sent”.
    </>
  );
  return { title: "Unsent emails", explanation };
}

function workspaceHref({ workspace }: PlatformAttentionSubject): string | undefined {
  return workspace === undefined ? undefined : paths.platformWorkspace({ workspace });
}
