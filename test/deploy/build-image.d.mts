/** What runs as a container: a root file system, and what the image says of how it is started. */
export interface Image {
  readonly rootfs: string;
  readonly config: {
    readonly User: string;
    readonly Env: readonly string[];
    readonly Entrypoint: readonly string[];
    readonly Cmd: readonly string[];
    readonly WorkingDir: string;
    readonly StopSignal?: string;
    readonly Volumes: Readonly<Record<string, unknown>>;
  };
}
export const work: string;
export function missing(): string | undefined;
export function lastImage(): Image;
export function run(command: string, args: readonly string[]): string;
