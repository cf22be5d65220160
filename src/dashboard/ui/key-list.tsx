import { Dialog, openDialog } from "./dialog.tsx";

/** Lists the single-character shortcuts that are available. */
export function KeyList() {
  return (
    <dl class="facts">
      {[
        ["/", "Search"],
        ["?", "Show these keys"],
        ["j, k", "Next and previous row; Enter opens it"],
        ["o, Space", "Open the row beside the list on wide screens; Escape closes it"],
        ["x", "Select row"],
        ["f", "Add filter"],
        ["n, p", "Next and previous page of a list"],
        ["l", "Print labels of the selected shipments, or of the row’s shipment"],
        ["m, u, d", "Record their payments, or mark them as picked up or delivered"],
        ["a, r", "Assign a courier to them, or remove it"],
        ["c", "Cancel them"],
        ["z", "Undo the last action, if offered"],
      ].map(([keys, effect]) => (
        <div key={keys}>
          <dt>
            {keys!.split(", ").map((key) => (
              <kbd key={key}>{key}</kbd>
            ))}
          </dt>
          <dd>{effect}</dd>
        </div>
      ))}
    </dl>
  );
}

export function openKeyList(): void {
  openDialog(
    <Dialog title="Keys" submit="Close">
      <KeyList />
    </Dialog>,
  );
}
