import { OperatorRole } from "../../../gen/shipments/admin/v1/operator_pb.js";
import {
  TariffVersionState,
  type TariffVersion,
} from "../../../gen/shipments/admin/v1/tariff_pb.js";
import { TariffService } from "../../../gen/shipments/admin/v1/tariff_service_pb.js";
import { useClient } from "../api/clients.ts";
import { useOperatorRole } from "../api/session.ts";
import { type Query, useQuery } from "../api/use-query.ts";
import { DetailPage } from "../ui/detail-page.tsx";
import { paths } from "../routes/paths.ts";
import { CallOff, RollBack } from "./publication.tsx";
import {
  comparisonPath,
  NewDraftLink,
  TariffView,
  useTariffInForce,
  VersionBadge,
} from "./tariff-view.tsx";

/** One version of the tariff, with what can be done with it. */
export function TariffVersionPage(props: { readonly version: string }) {
  const tariffs = useClient(TariffService);
  const version = /^\d{1,9}$/.test(props.version) ? Number(props.version) : 0;
  const query = useQuery(
    (signal) => tariffs.getTariffVersion({ version }, { signal }),
    [tariffs, version],
  );
  const inForce = useTariffInForce();
  return (
    <DetailPage
      query={query}
      up={{ label: "Tariff", href: paths.tariff({}) }}
      what="version"
      title={() => `Tariff version ${props.version}`}
      fallbackTitle={`Tariff version ${props.version}`}
      missing="Those there are stand on the tariff’s page."
      unlinked
      note={({ state }) => <VersionBadge state={state} />}
      actions={(found) => <Actions version={found} reload={query.reload} inForce={inForce} />}
    >
      {(found) => <TariffView version={found} />}
    </DetailPage>
  );
}

function Actions(props: {
  readonly version: TariffVersion;
  readonly reload: () => void;
  readonly inForce: Query<TariffVersion | null>;
}) {
  const { version, inForce } = props;
  const mayChange = useOperatorRole(OperatorRole.OPERATOR);
  const current = inForce.data?.version;
  const isOther = current !== undefined && current !== version.version;
  return (
    <>
      {isOther && (
        <a class="button" href={comparisonPath(current, version.version)}>
          Compare with what is in force
        </a>
      )}
      {mayChange && <NewDraftLink version={version.version} />}
      {version.state === TariffVersionState.SCHEDULED && (
        <CallOff version={version} done={props.reload} />
      )}
      {version.state === TariffVersionState.REPLACED && isOther && (
        <RollBack version={version.version} inForce={current} replaced={inForce.reload} />
      )}
    </>
  );
}
