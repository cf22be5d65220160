/** A picture at its address, with its size in CSS pixels. */
export interface Picture {
  readonly src: string;
  readonly width: number;
  readonly height: number;
}

export interface GuideSource {
  /** Its path from the top of the repository. */
  readonly file: string;
  readonly markdown: string;
  /** Finds a picture by its path from the top of the repository. */
  readonly picture: (file: string) => Picture;
}
