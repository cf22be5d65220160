/** URL path of a picture and its size in CSS pixels. */
export interface Picture {
  readonly src: string;
  readonly width: number;
  readonly height: number;
}

export interface GuideSource {
  /** Path from the repository root. */
  readonly file: string;
  readonly markdown: string;
  /** Returns a picture by its path from the repository root. */
  readonly picture: (file: string) => Picture;
}
