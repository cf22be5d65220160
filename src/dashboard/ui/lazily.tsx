import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";

/** A component whose code is loaded when it is first shown; another stands in its place until then, or nothing. */
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

/** Code that cannot be loaded is of a build that the service no longer has: the page is loaded with the new one. */
export function reloadOnce(): void {
  const mark = "reloaded-at";
  if (Date.now() - Number(sessionStorage.getItem(mark) ?? 0) < 30_000) return;
  sessionStorage.setItem(mark, String(Date.now()));
  location.reload();
}
