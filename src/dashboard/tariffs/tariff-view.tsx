import {
  TariffVersionState,
  type TariffVersion,
} from "../../../gen/shipments/admin/v1/tariff_pb.js";
import { DescriptionList } from "../ui/description-list.tsx";
import { QueryView } from "../ui/query-view.tsx";
import { Section } from "../ui/page.tsx";
import { FeesView } from "./tariff-fees.tsx";
import { TariffStateBadge } from "./tariff-state.tsx";
import { TariffMap, useZones, versionZonesPath, zonesText } from "./tariff-zones.tsx";
import { Time } from "../ui/values.tsx";
import { paths } from "../routes/paths.ts";

/** One version of the tariff: who published it when and why, its fees and its zones. */
export function TariffView({ version }: { readonly version: TariffVersion }) {
  const { fees } = version;
  return (
    <div class="columns">
      <div>
        <Section title={`Zones of version ${version.version}`} actions={<Download {...version} />}>
          <VersionMap version={version.version} />
        </Section>
      </div>
      <div>
        <Section title={`Version ${version.version}`}>
          <VersionFacts version={version} />
        </Section>
        {fees && (
          <Section title="Fees and tiers">
            <FeesView fees={fees} />
          </Section>
        )}
      </div>
    </div>
  );
}

function Download({ version }: { readonly version: number }) {
  return (
    <a class="button" href={versionZonesPath(version)} download={`zones-${version}.geojson`}>
      Download GeoJSON
    </a>
  );
}

function VersionMap({ version }: { readonly version: number }) {
  const zones = useZones(versionZonesPath(version));
  return (
    <QueryView query={zones}>
      {(document) => (
        <TariffMap
          label={`Zones of version ${version}`}
          layers={[{ name: `Version ${version}`, tone: "zone", document }]}
        />
      )}
    </QueryView>
  );
}

function VersionFacts({ version }: { readonly version: TariffVersion }) {
  const { calledOffAt, replaces, repeats } = version;
  const isCalledOff = version.state === TariffVersionState.CALLED_OFF;
  return (
    <DescriptionList
      items={[
        ["State", <TariffStateBadge state={version.state} />],
        [isCalledOff ? "Scheduled for" : "Effective", <Time at={version.effectiveAt} exact />],
        ["Published", <Time at={version.publishedAt} exact />],
        ["By", version.author ?? "—"],
        ["Note", version.note],
        ["Zones", zonesText(version.zones)],
        ["Replaces", replaces && <VersionLink version={replaces} />],
        ["Repeats", repeats && <VersionLink version={repeats} />],
        ["Called off", calledOffAt && <Time at={calledOffAt} exact />],
      ]}
    />
  );
}

function VersionLink({ version }: { readonly version: number }) {
  return <a href={paths.tariffVersion({ version: String(version) })}>version {version}</a>;
}
