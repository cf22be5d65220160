declare module "@20minutes/s3rver" {
  /** A server that speaks S3's protocol and checks signatures (its one account is S3RVER, its secret S3RVER). */
  export default class S3rver {
    constructor(options: {
      readonly address: string;
      readonly port: number;
      readonly directory: string;
      readonly silent: boolean;
      readonly configureBuckets: readonly { readonly name: string }[];
    });
    run(): Promise<{ readonly port: number }>;
    close(): Promise<void>;
  }
}
