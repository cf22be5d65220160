import { DescriptionList } from "./description-list.tsx";
import { Dialog, openDialog } from "./dialog.tsx";

const KEYS = [
  ["/, Ctrl-K", "Search"],
  ["?", "Show these keys"],
  ["j, k", "Next and previous row; Enter opens it"],
  ["o, Space", "Open the row beside the list on wide screens; Escape closes it"],
  ["x", "Select row"],
  ["f", "Add filter"],
  ["n, p", "Next and previous page of a list"],
  ["z", "Undo the last action, if offered"],
] as const;

const SHIPMENT_KEYS = [
  ["l", "Print labels"],
  ["m", "Record payment"],
  ["u, d", "Mark as picked up or delivered"],
  ["a, r", "Assign or remove courier"],
  ["c", "Cancel shipment"],
] as const;

/** Returns the keys of the pages in the navigation, with their names. */
function pageKeys() {
  const links = document.querySelectorAll<HTMLElement>("#navigation [data-keys]");
  return [...links].map(({ dataset }) => [dataset["keys"]!, dataset["page"]!] as const);
}

/** Lists the available shortcuts. */
function KeyList() {
  return (
    <>
      <Keys of={KEYS} />
      <h3>Selected shipments, or the row’s shipment</h3>
      <Keys of={SHIPMENT_KEYS} />
      <h3>Pages</h3>
      <Keys of={pageKeys()} />
    </>
  );
}

function Keys({ of }: { readonly of: readonly (readonly [keys: string, effect: string])[] }) {
  return (
    <DescriptionList
      items={of.map(([keys, effect]) => [keys.split(", ").map((key) => <kbd key={key}>{key}</kbd>), effect])}
    />
  );
}

export function openKeyList(): void {
  openDialog(
    <Dialog title="Keys" submit="Close">
      <KeyList />
    </Dialog>,
  );
}
