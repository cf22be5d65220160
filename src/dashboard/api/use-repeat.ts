import { useEffect } from "preact/hooks";

/** Does something again and again while the page is visible, such as loading a state anew. */
export function useRepeat(work: () => void, intervalMs: number): void {
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) work();
    }, intervalMs);
    return () => clearInterval(timer);
  }, [work, intervalMs]);
}
