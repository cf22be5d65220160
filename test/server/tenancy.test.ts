import { startService } from "../support/service.ts";
import { walkTenancy } from "../support/walk-tenancy.ts";

const service = await startService();
const [other, caller] = [await service.addWorkspace(), await service.addWorkspace()];
await walkTenancy(service, { other, caller, stranger: other });
