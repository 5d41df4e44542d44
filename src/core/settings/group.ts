import type { CallLimits } from './governance.ts';
import type { ToolOverride, Visibility } from './server.ts';

/** `"all"`, or exactly the upstream's own names listed. */
export type Selection = 'all' | readonly string[];

export interface GroupSettings {
  readonly id: string;
  readonly name: string;
  readonly description: string | undefined;
  readonly owner: string;
  readonly visibility: Visibility | undefined;
  readonly sharedWithUsers: readonly string[];
  readonly servers: readonly GroupServer[];
  /** Of each caller on the group's own endpoints. */
  readonly limits?: CallLimits | undefined;
  /** On the group's own endpoints, as in `SystemSettings`. */
  readonly maxResultTokens?: number | undefined;
}

export interface GroupServer {
  readonly name: string;
  /** The prefix its names get in this group, in place of the server's name. */
  readonly alias: string | undefined;
  readonly tools: Selection;
  readonly prompts: Selection;
  readonly resources: Selection;
  readonly pinnedTools: readonly string[];
  /** By the server's own names of tools; they hold on the group's endpoints. */
  readonly overrides?: ReadonlyMap<string, ToolOverride> | undefined;
}
