import { useEffect } from "preact/hooks";
import { reloadAll } from "../api/use-action.ts";
import { Button } from "./button.tsx";

/** Says in a form that somebody else changed what it is about, and leads to what that is now. */
export function StaleNote(props: {
  readonly what: string;
  readonly isLoaded: boolean;
  readonly restart: () => void;
}) {
  const { what, isLoaded, restart } = props;
  useEffect(() => {
    if (!isLoaded) reloadAll();
  }, []);
  return (
    <div class="problem attention" role="alert">
      <p>
        Somebody else changed the {what}, so this cannot be saved. Reload it to go on; what you
        changed here will be lost.
      </p>
      <Button disabled={!isLoaded} onClick={restart}>
        Reload
      </Button>
    </div>
  );
}
