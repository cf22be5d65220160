declare module "*.css";

/** The part of Trusted Types that the page uses, in browsers that support it. */
interface Window {
  readonly trustedTypes?: {
    createPolicy(
      name: string,
      rules: { createScriptURL(url: string): string },
    ): { createScriptURL(url: string): string };
  };
}
