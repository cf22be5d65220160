import { create } from "@bufbuild/protobuf";
import {
  CompareTariffVersionsResponseSchema,
  type CompareTariffVersionsRequestValid,
  type CompareTariffVersionsResponse,
} from "../../../../gen/shipments/admin/v1/tariff_service_pb.js";
import { Refusal, unavailable, type Violation } from "../../../domain/refusal.ts";
import type { OperatorCall } from "../../../pipeline/call.ts";
import {
  TaskTooLargeError,
  type CompareInput,
  type TariffTasks,
} from "../tasks/run-tariff-task.ts";

/**
 * Tells how the fees and zones of two versions differ, whatever became of them.
 *
 * @throws Refusal TARIFF_VERSION_NOT_FOUND under each field that names no version, UNAVAILABLE when
 *   too much work on tariffs waits, or the two take too much memory
 */
export async function compareTariffVersions(
  { fromVersion, toVersion }: CompareTariffVersionsRequestValid,
  _call: OperatorCall,
  { tasks }: { readonly tasks: TariffTasks },
): Promise<CompareTariffVersionsResponse> {
  const versions = { from: fromVersion, to: toVersion };
  const { differences, unknown } = await tasks.run("compare", versions).catch((error: unknown) => {
    throw error instanceof TaskTooLargeError ? unavailable(TOO_LARGE_TOGETHER) : error;
  });
  if (unknown !== undefined) throw versionsNotFoundError(unknown, versions);
  return create(CompareTariffVersionsResponseSchema, differences);
}

const TOO_LARGE_TOGETHER =
  "The two versions together take too much memory to be compared; compare their zones elsewhere.";

function versionsNotFoundError(
  unknown: readonly (keyof CompareInput)[],
  versions: CompareInput,
): Refusal {
  const violations = unknown.map((end): Violation => ({
    reason: "TARIFF_VERSION_NOT_FOUND",
    subject: `${end}_version`,
    text: `There is no tariff version ${versions[end]}.`,
  }));
  return new Refusal(violations);
}
