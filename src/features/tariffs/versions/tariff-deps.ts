import type { EntityManager } from "../../../db/orm.ts";
import type { TariffTasks } from "../tasks/run-tariff-task.ts";

/** What the RPCs of tariffs work with. */
export interface TariffDeps {
  readonly em: EntityManager;
  readonly tasks: TariffTasks;
  readonly now: () => Date;
}
