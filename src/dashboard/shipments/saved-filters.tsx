import {
  AccountService,
  type SavedFilter,
} from "../../../gen/shipments/account/v1/account_service_pb.js";
import { useWorkspace } from "../api/session.ts";
import { useRpc } from "../api/use-query.ts";
import { usePlace } from "../routes/router.ts";
import { RpcButton } from "../ui/dialog.tsx";
import { textOf } from "../ui/form-data.ts";
import { PAGE_TOKEN } from "../ui/pager.tsx";

const { deleteSavedFilter, listSavedFilters, renameSavedFilter, saveFilter } =
  AccountService.method;

/** What of the address says how the list is shown, not what is in it. */
const NO_FILTERS: ReadonlySet<string> = new Set([PAGE_TOKEN, "view", "end"]);

/** The filters and the order of an address, whatever the page of the list and the order in which they are said. */
export function filtersText(query: URLSearchParams): string {
  const given = [...query].filter(([name, value]) => !NO_FILTERS.has(name) && value !== "");
  return new URLSearchParams(given.toSorted(([one], [other]) => (one < other ? -1 : 1))).toString();
}

/** The filters that the reader has saved, each a link; what the list shows now can be saved, renamed and deleted. */
export function SavedFilters() {
  const { pathname, query } = usePlace();
  const { live } = useWorkspace();
  const list = useRpc(listSavedFilters, { workspace: live });
  const saved = list.data?.data;
  const text = filtersText(query);
  const current = saved?.find((it) => it.query === text);
  // Until they are loaded nobody knows whether it is one of them.
  if (saved === undefined || (saved.length === 0 && text === "")) return null;
  return (
    <div class="saved-filters">
      {saved.length > 0 && (
        <nav class="quick-days" aria-label="Saved filters">
          <span class="minor">Saved</span>
          {saved.map((it) => (
            <a
              key={String(it.id)}
              href={it.query === "" ? pathname : `${pathname}?${it.query}`}
              aria-current={it === current ? "true" : undefined}
            >
              {it.name}
            </a>
          ))}
        </nav>
      )}
      <div class="row-actions">
        {current !== undefined ? (
          <FilterActions filter={current} workspace={live} />
        ) : (
          text !== "" && (
            <RpcButton
              button="Save this filter"
              method={saveFilter}
              title="Save this filter"
              submit="Save"
              request={{ workspace: live, query: text }}
              fields={{
                name: {
                  label: "Name",
                  hint: "Only you see it. A filter that you have saved under this name is replaced. Days such as “Today” move on with the calendar.",
                },
              }}
              done={(form) => `“${textOf(form, "name")}” is saved.`}
            />
          )
        )}
      </div>
    </div>
  );
}

function FilterActions(props: { readonly workspace: bigint; readonly filter: SavedFilter }) {
  const { workspace, filter } = props;
  const request = { workspace, savedFilter: filter.id };
  return (
    <>
      <RpcButton
        button="Rename"
        label={`Rename the filter ${filter.name}`}
        method={renameSavedFilter}
        title={`Rename “${filter.name}”`}
        submit="Rename"
        request={request}
        fields={{ name: "Name" }}
        values={filter}
        done={(form) => `It is “${textOf(form, "name")}” now.`}
      />
      <RpcButton
        button="Delete"
        label={`Delete the filter ${filter.name}`}
        method={deleteSavedFilter}
        title={`Delete the filter “${filter.name}”?`}
        submit="Delete the filter"
        tone="danger"
        dismiss="Keep it"
        request={request}
        done={`“${filter.name}” is deleted.`}
      >
        <p>The shipments stay as they are.</p>
      </RpcButton>
    </>
  );
}
