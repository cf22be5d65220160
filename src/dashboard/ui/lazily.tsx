import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";

/** A component whose code is loaded when first shown, with an optional placeholder. */
export function lazily<P extends object>(
  load: () => Promise<ComponentType<P>>,
  Waiting: ComponentType = () => null,
): ComponentType<P> {
  let known: ComponentType<P> | undefined;
  return function Lazy(props: P) {
    const [Component, setComponent] = useState(() => known);
    const show = (loaded: ComponentType<P>) => setComponent(() => (known = loaded));
    useEffect(() => void (known ?? load().then(show, reloadOnce)), []);
    return Component === undefined ? <Waiting /> : <Component {...props} />;
  };
}

/** Reloads the page after a deployment has removed the old build's code. At most once in 30 seconds. */
export function reloadOnce(): void {
  const mark = "reloaded-at";
  if (Date.now() - Number(sessionStorage.getItem(mark) ?? 0) < 30_000) return;
  sessionStorage.setItem(mark, String(Date.now()));
  location.reload();
}
