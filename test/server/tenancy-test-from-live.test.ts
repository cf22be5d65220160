import { startService } from "../support/service.ts";
import { walkTenancy } from "../support/walk-tenancy.ts";

const service = await startService();
const [live, stranger] = [await service.addWorkspace(), await service.addWorkspace()];
const { twin } = live;
await walkTenancy(service, { other: live, caller: twin, stranger });
