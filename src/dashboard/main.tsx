import "./style.css";
import { render } from "preact";
import { App } from "./shell/app.tsx";
import { findPage, loadPage } from "./shell/pages.ts";
import { followLinks } from "./routes/router.ts";

followLinks();
// Load the page's code while the account loads. A failed load is retried later.
const page = findPage(location.pathname);
if (page !== undefined) loadPage(page.name).catch(() => undefined);
// A phone's keyboard must not cover the field that opened it.
visualViewport?.addEventListener("resize", () => {
  const { activeElement } = document;
  if (activeElement?.matches("input, select, textarea")) activeElement.scrollIntoView({ block: "nearest" });
});
render(<App />, document.getElementById("app")!);
