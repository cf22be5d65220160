import { useEffect, useRef } from "preact/hooks";
import { WorkspaceService } from "../../../gen/shipments/v1/workspace_service_pb.js";
import { useWorkspace } from "../api/session.ts";
import { useRpc } from "../api/use-query.ts";
import { MembersSection } from "../people/members.tsx";
import { usePlace } from "../routes/router.ts";
import { Page } from "../ui/page.tsx";
import { QueryView } from "../ui/query-view.tsx";
import { PaymentsSection } from "./payments.tsx";
import "./settings.css";
import { settingsParts } from "./settings-parts.ts";
import { LimitsSection, WorkspaceSection } from "./workspace.tsx";
import type { ParametersOf } from "../routes/paths.ts";

/** What belongs to a workspace as a whole: who is in it, how it is paid, what it may. */
export function SettingsPage({ workspace }: ParametersOf<"settings">) {
  const { isTest } = useWorkspace();
  const query = useRpc(WorkspaceService.method.getWorkspace, {});
  const parts = useShownPart();
  return (
    <Page title="Settings">
      <div class="settings">
        <nav class="parts" aria-label="Parts of the settings">
          {settingsParts(isTest).map(({ id, label }) => (
            <a key={id} href={`#${id}`}>
              {label}
            </a>
          ))}
        </nav>
        <div class="stack" ref={parts}>
          <QueryView query={query}>
            {({ data }) => data && <WorkspaceSection workspace={data} />}
          </QueryView>
          {!isTest && <MembersSection />}
          <PaymentsSection workspace={workspace} />
          {query.data?.data?.limits && <LimitsSection limits={query.data.data.limits} />}
        </div>
      </div>
    </Page>
  );
}

/** What ends that the page follows the part that the address names. */
const READER_EVENTS = ["wheel", "touchmove", "keydown", "pointerdown"] as const;

/** Goes to the part that the address names, also as those before it load, until the reader does something. */
function useShownPart() {
  const parts = useRef<HTMLDivElement>(null);
  const { hash } = usePlace();
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
