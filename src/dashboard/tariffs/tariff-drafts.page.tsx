import { OperatorRole } from "../../../gen/shipments/admin/v1/operator_pb.js";
import type { TariffDraft } from "../../../gen/shipments/admin/v1/tariff_pb.js";
import { TariffService } from "../../../gen/shipments/admin/v1/tariff_service_pb.js";
import { useOperatorRole } from "../api/session.ts";
import { Empty, Page } from "../ui/page.tsx";
import { Button } from "../ui/button.tsx";
import { type Column, ListView } from "../ui/table.tsx";
import { Time } from "../ui/values.tsx";
import { paths } from "../routes/paths.ts";
import { changeQuery, navigate, useLocation } from "../routes/router.ts";
import { useRpc } from "../api/use-query.ts";
import { RpcDialog } from "../ui/dialog.tsx";

const COLUMNS: readonly Column<TariffDraft>[] = [
  { header: "Name", selfEvident: true, cell: ({ name }) => name },
  {
    header: "Origin",
    selfEvident: true,
    cell: ({ fromVersion }) => (fromVersion ? `Copy of version ${fromVersion}` : "Started empty"),
  },
  { header: "By", cell: ({ author }) => author },
  { header: "Tiers", align: "end", cell: ({ fees }) => fees?.tiers.length ?? 0 },
  { header: "Changed", align: "end", cell: ({ updatedAt }) => <Time at={updatedAt} /> },
];

export function TariffDraftsPage() {
  const mayChange = useOperatorRole(OperatorRole.OPERATOR);
  const begun = useLocation().query.get("new");
  const list = useRpc(TariffService.method.listTariffDrafts, {});
  const begin = mayChange && (
    <Button primary onClick={() => changeQuery({ new: "empty" })}>
      New draft
    </Button>
  );
  return (
    <Page title="Drafts" actions={begin}>
      <ListView
        query={list}
        label="Drafts"
        columns={COLUMNS}
        href={({ id }) => paths.tariffDraft({ draft: id })}
        empty={
          <Empty title="No drafts">
            Prepare a tariff as a draft: copy a version or start from scratch, change fees and zones, check it, replay
            it, and publish it.
          </Empty>
        }
      />
      {mayChange && begun !== null && <NewDraft from={begun === "empty" ? undefined : begun} />}
    </Page>
  );
}

function NewDraft({ from }: { readonly from: string | undefined }) {
  const choices = useVersionChoices(from);
  return (
    <RpcDialog
      method={TariffService.method.createTariffDraft}
      title="New draft"
      submit="Create draft"
      close={() => changeQuery({ new: undefined }, { replace: true })}
      fields={{
        name: { label: "Name", placeholder: "Spring" },
        fromVersion: {
          label: "Fees and zones",
          value: from,
          choices: [["", "Empty"], ...choices],
        },
      }}
      then={({ data }, isShown) => {
        if (isShown) navigate(paths.tariffDraft({ draft: data!.id }), { replace: true });
      }}
    />
  );
}

/** Returns the versions that can be copied: the latest ones and the one that the URL requests. */
function useVersionChoices(from: string | undefined): readonly (readonly [string, string])[] {
  const { data } = useRpc(TariffService.method.listTariffVersions, { pageSize: 100 });
  const numbers = (data?.data ?? []).map(({ version }) => String(version));
  const all = from === undefined || numbers.includes(from) ? numbers : [from, ...numbers];
  return all.map((number) => [number, `As in version ${number}`] as const);
}
