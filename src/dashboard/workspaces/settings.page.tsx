import { useEffect, useRef } from "preact/hooks";
import { WorkspaceService, type Limits, type Workspace } from "../../../gen/shipments/v1/workspace_service_pb.js";
import { useRole, useWorkspace } from "../api/session.ts";
import { useRpc } from "../api/use-query.ts";
import { MembersSection } from "../people/members.tsx";
import { useLocation } from "../routes/router.ts";
import { zoneText } from "../ui/local-time.ts";
import { Page, Section, QueryView } from "../ui/page.tsx";
import { PaymentsSection } from "./payments.tsx";
import { settingsParts } from "./settings-parts.ts";
import { paths } from "../routes/paths.ts";
import { loadAccount } from "../api/sign-in.ts";
import { Id } from "../ui/values.tsx";
import { changesOf } from "../ui/changes-of.ts";
import { DescriptionList } from "../ui/description-list.tsx";
import { numberText, rateText } from "../ui/format.ts";
import { TrackingSection } from "./tracking.tsx";
import { TimeZoneButton } from "./time-zone-button.tsx";
import { RpcButton } from "../ui/dialog.tsx";
import "./settings.css";

export function SettingsPage() {
  const { isTest } = useWorkspace();
  const query = useRpc(WorkspaceService.method.getWorkspace, {});
  const parts = useShownPart();
  return (
    <Page title="Settings">
      <div class="settings">
        <nav class="parts tabs" aria-label="Parts of the settings">
          {settingsParts(isTest).map(({ id, label }) => (
            <a key={id} href={`#${id}`}>
              {label}
            </a>
          ))}
        </nav>
        <div class="stack" ref={parts}>
          <QueryView query={query}>{({ data }) => data && <WorkspaceSection workspace={data} />}</QueryView>
          {!isTest && <MembersSection />}
          <PaymentsSection />
          {query.data?.data && <TrackingSection workspace={query.data.data} />}
          {query.data?.data && <CouriersSection workspace={query.data.data} />}
          {query.data?.data?.limits && <LimitsSection limits={query.data.data.limits} />}
        </div>
      </div>
    </Page>
  );
}

/** Events after which the page stops scrolling to the URL's section. */
const READER_EVENTS = ["wheel", "touchmove", "keydown", "pointerdown"] as const;

/** Scrolls to the URL's section, and again as earlier sections load, until the user acts. */
function useShownPart() {
  const parts = useRef<HTMLDivElement>(null);
  const { hash } = useLocation();
  useEffect(() => {
    if (hash === "") return;
    const show = () => {
      const part = document.getElementById(hash.slice(1));
      part?.scrollIntoView();
      part?.focus({ preventScroll: true });
    };
    const observer = new ResizeObserver(show);
    const stop = () => observer.disconnect();
    observer.observe(parts.current!);
    for (const name of READER_EVENTS) addEventListener(name, stop, { once: true, passive: true });
    return () => {
      stop();
      for (const name of READER_EVENTS) removeEventListener(name, stop);
    };
  }, [hash]);
  return parts;
}

function WorkspaceSection(props: { readonly workspace: Workspace }) {
  const { id, name, bookingBlockers, timeZone, test } = props.workspace;
  const mayChange = useRole("admin") && !test;
  const button = (
    // Reload the account, because its workspace's time zone applies to all pages, including test mode.
    <TimeZoneButton method={WorkspaceService.method.updateWorkspace} then={loadAccount} {...{ name, timeZone }} />
  );
  return (
    <Section id="workspace" title="Workspace" actions={mayChange && button}>
      <DescriptionList
        items={[
          ["Name", name],
          ["ID", <Id id={id} />],
          ["Time zone", zoneText(timeZone)],
          ["Booking", bookingBlockers.length > 0 && <a href={paths.attention()}>Not possible now</a>],
        ]}
      />
      <p class="hint note">Only platform operators can change the name and limits.</p>
    </Section>
  );
}

function LimitsSection({ limits }: { readonly limits: Limits }) {
  const { requestBytes, pageSize, batchRoutes, metadataKeys, quote, read, write } = limits;
  return (
    <Section id="limits" title="Limits">
      <DescriptionList
        items={[
          ["Quotes", rateText(quote)],
          ["Reads", rateText(read)],
          ["Changes", rateText(write)],
          ["Request", `${numberText(requestBytes)} bytes`],
          ["Page of a list", `${numberText(pageSize)} results`],
          ["Batch quote", `${numberText(batchRoutes)} routes`],
          ["Notes", `${numberText(metadataKeys)} on a shipment`],
        ]}
      />
    </Section>
  );
}

/** Settings for the couriers' page. */
function CouriersSection({ workspace }: { readonly workspace: Workspace }) {
  const { couriersReorderStops, couriersShareLocation, test } = workspace;
  const actions = useRole("admin") && !test && (
    <RpcButton
      method={WorkspaceService.method.updateWorkspace}
      request={(form) =>
        changesOf(WorkspaceService.method.updateWorkspace.input, form, workspace, {
          couriersReorderStops: form.has("couriers_reorder_stops"),
          couriersShareLocation: form.has("couriers_share_location"),
        })
      }
      button="Change"
      label="Change couriers"
      title="Couriers"
      submit="Save"
      done="Courier settings saved."
      fields={{
        couriersReorderStops: "Couriers can change the order of their stops",
        couriersShareLocation: "Couriers can share their location",
      }}
      values={workspace}
    />
  );
  return (
    <Section id="couriers" title="Couriers" actions={actions}>
      <DescriptionList
        items={[
          ["Order of stops", couriersReorderStops ? "Couriers can change it" : "Only dispatchers change it"],
          ["Location", couriersShareLocation ? "Shared by couriers who agree" : "Not shared"],
        ]}
      />
    </Section>
  );
}
