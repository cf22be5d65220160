import { OperatorRole } from "../../../gen/shipments/admin/v1/operator_pb.js";
import { type TariffVersion, TariffVersionState } from "../../../gen/shipments/admin/v1/tariff_pb.js";
import { type ListTariffVersionsResponse, TariffService } from "../../../gen/shipments/admin/v1/tariff_service_pb.js";
import { useOperatorRole } from "../api/session.ts";
import { type Query, useRepeat, useRpc } from "../api/use-query.ts";
import { LinkButton } from "../ui/button.tsx";
import { More } from "../ui/menu.tsx";
import { type ParametersOf, paths } from "../routes/paths.ts";
import { DetailPage, Empty, Page, Section, QueryView } from "../ui/page.tsx";
import { type Column, ListView, useList } from "../ui/table.tsx";
import { Time } from "../ui/values.tsx";
import { CancelSchedule, RollBack } from "./publication.tsx";
import { comparisonPath, NewDraftLink, TariffView, useTariffInForce, VersionBadge } from "./tariff-view.tsx";
import { zonesText } from "./tariff-zones.tsx";

/** Poll interval to detect publications by other operators, in milliseconds. */
const POLL_MS = 15_000;

export function TariffPage() {
  const mayChange = useOperatorRole(OperatorRole.OPERATOR);
  const inForce = useTariffInForce();
  // A scheduled version is always the newest, because it blocks further publications.
  const newest = useRpc(TariffService.method.listTariffVersions, { pageSize: 1 });
  const versions = useList(TariffService.method.listTariffVersions, {}, 10);
  useRepeat(inForce.reload, POLL_MS);
  useRepeat(newest.reload, POLL_MS);
  useRepeat(versions.reload, POLL_MS);
  const [latest] = newest.data?.data ?? [];
  const version = inForce.data?.version;
  return (
    <Page title="Tariff" actions={mayChange && version && <NewDraftLink version={version} />}>
      {latest?.state === TariffVersionState.SCHEDULED && <Scheduled version={latest} inForce={version} />}
      <QueryView query={inForce}>{(data) => (data === null ? <NoTariff /> : <TariffView version={data} />)}</QueryView>
      <Versions query={versions} />
    </Page>
  );
}

function NoTariff() {
  return (
    <Empty title="No tariff is in force yet" link={{ label: "Show drafts", href: paths.tariffDrafts({}) }}>
      Quotes and bookings are blocked until one is published. Prepare a draft and publish it.
    </Empty>
  );
}

function Scheduled(props: { readonly version: TariffVersion; readonly inForce: number | undefined }) {
  const { version, effectiveAt, author, note } = props.version;
  return (
    <Section
      title={`Scheduled: version ${version}`}
      actions={
        <>
          {props.inForce && <LinkButton href={comparisonPath(props.inForce, version)}>Compare</LinkButton>}
          <CancelSchedule version={props.version} />
        </>
      }
    >
      <p>
        <a href={paths.tariffVersion({ version: String(version) })}>Version {version}</a> takes effect{" "}
        <Time at={effectiveAt} exact />
        {author && `, published by ${author}`}.{note && ` “${note}”`}
      </p>
    </Section>
  );
}

const COLUMNS: readonly Column<TariffVersion>[] = [
  { header: "Version", cell: ({ version }) => version },
  {
    header: "State",
    selfEvident: true,
    cell: ({ state }) => <VersionBadge state={state} />,
  },
  { header: "From", cell: ({ effectiveAt }) => <Time at={effectiveAt} exact /> },
  { header: "By", cell: ({ author }) => author ?? "—" },
  { header: "Zones", align: "end", selfEvident: true, cell: ({ zones }) => zonesText(zones) },
  {
    header: "Note",
    selfEvident: true,
    cell: ({ note, repeats }) => note ?? (repeats && `Repeats version ${repeats}`),
  },
];

function Versions(props: { readonly query: Query<ListTariffVersionsResponse> }) {
  return (
    <Section title="Versions" actions={<CompareLatest versions={props.query.data?.data ?? []} />}>
      <ListView
        query={props.query}
        label="Versions"
        columns={COLUMNS}
        keyOf={({ version }) => String(version)}
        href={({ version }) => paths.tariffVersion({ version: String(version) })}
        empty={<Empty title="No versions yet">Publish a draft to create one.</Empty>}
      />
    </Section>
  );
}

function CompareLatest({ versions }: { readonly versions: readonly TariffVersion[] }) {
  const [to, from] = versions;
  if (to === undefined || from === undefined) return null;
  return <LinkButton href={comparisonPath(from.version, to.version)}>Compare versions</LinkButton>;
}

export function TariffVersionPage(props: ParametersOf<"tariffVersion">) {
  const version = /^\d{1,9}$/.test(props.version) ? Number(props.version) : 0;
  const query = useRpc(TariffService.method.getTariffVersion, { version });
  const inForce = useTariffInForce();
  return (
    <DetailPage
      query={query}
      up={{ label: "Tariff", href: paths.tariff({}) }}
      what="version"
      fallbackTitle={`Tariff version ${props.version}`}
      missing="The Tariff page lists all versions."
      unlinked
      note={({ state }) => <VersionBadge state={state} />}
      actions={(found) => <Actions version={found} inForce={inForce} />}
    >
      {(found) => <TariffView version={found} />}
    </DetailPage>
  );
}

function Actions(props: { readonly version: TariffVersion; readonly inForce: Query<TariffVersion | null> }) {
  const { version, inForce } = props;
  const mayChange = useOperatorRole(OperatorRole.OPERATOR);
  const current = inForce.data?.version;
  const isOther = current !== undefined && current !== version.version;
  const isScheduled = version.state === TariffVersionState.SCHEDULED;
  return (
    <>
      {mayChange && <NewDraftLink version={version.version} />}
      {(isOther || isScheduled) && (
        <More>
          {isOther && (
            <LinkButton href={comparisonPath(current, version.version)}>Compare with the version in force</LinkButton>
          )}
          {isScheduled && <CancelSchedule version={version} />}
          {isOther && version.state === TariffVersionState.REPLACED && (
            <RollBack version={version.version} inForce={current} replaced={inForce.reload} />
          )}
        </More>
      )}
    </>
  );
}
