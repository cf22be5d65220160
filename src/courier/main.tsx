import "./style.css";
import { render } from "preact";
import { Courier } from "./screens/app.tsx";

render(<Courier />, document.getElementById("app")!);
registerServiceWorker();

/** Browsers have service workers and lasting storage only on HTTPS. The page works without them while it is online. */
function registerServiceWorker(): void {
  const { serviceWorker, storage } = navigator as Partial<Navigator>;
  const url = "/c/sw.js";
  const trusted =
    window.trustedTypes?.createPolicy("courier", { createScriptURL: () => url }).createScriptURL(url) ?? url;
  serviceWorker?.register(trusted, { scope: "/c" }).catch(() => undefined);
  // Browsers may otherwise delete the queue when the phone runs out of memory.
  storage?.persist?.().catch(() => undefined);
}
