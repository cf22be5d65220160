import type { ComponentChildren, ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";

type PropsOf<C> = C extends () => unknown ? object : C extends (props: infer P extends object) => unknown ? P : never;

/** A component of a module that is loaded when first shown, with an optional placeholder. */
export function lazily<M, Name extends keyof M, P extends object = PropsOf<M[Name]>>(
  load: () => Promise<M>,
  name: Name,
  placeholder: ComponentChildren = null,
): ComponentType<P> {
  let known: ComponentType<P> | undefined;
  return function Lazy(props: P) {
    const [Component, setComponent] = useState(() => known);
    const show = (loaded: M) => setComponent(() => (known = loaded[name] as ComponentType<P>));
    useEffect(() => void (known ?? load().then(show, reloadOnce)), []);
    return Component === undefined ? <>{placeholder}</> : <Component {...props} />;
  };
}

/** Reloads the page after a deployment has removed the old build's code. At most once in 30 seconds. */
export function reloadOnce(): void {
  const mark = "reloaded-at";
  if (Date.now() - Number(sessionStorage.getItem(mark) ?? 0) < 30_000) return;
  sessionStorage.setItem(mark, String(Date.now()));
  location.reload();
}
