import { beforeEach } from "vitest";
import { LEFT_OUT } from "./left-out.ts";

beforeEach(({ task, skip }) => {
  const left = LEFT_OUT.find(({ file, test }) => test === task.name && task.file.filepath.endsWith(file));
  if (left !== undefined) skip(left.because);
});
