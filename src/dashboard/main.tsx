import { render } from "preact";
import { App } from "./app.tsx";
import { findPage } from "./pages.ts";
import { followLinks } from "./router.ts";

followLinks();
// While the service is asked who has signed in. A page that cannot be loaded is loaded again later.
findPage(location.pathname)
  ?.page.load()
  .catch(() => undefined);
render(<App />, document.getElementById("app")!);
