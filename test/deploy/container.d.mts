import type { Image } from './build-image.mjs';

export interface Container {
  /** Of the program that holds it; the processes of the container descend from it. */
  readonly pid: number;
  readonly ended: Promise<number | null>;
  output(): string;
  /** As `docker stop`; its exit code. */
  stop(): Promise<number | null>;
}
export function startContainer(
  image: Image,
  volume: string,
  options?: { name?: string; env?: Record<string, string>; secrets?: string; onHost?: boolean },
): Container;
