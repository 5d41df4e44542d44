/** What the hub itself offers on every endpoint, in the order of the file. */
export interface OwnItems {
  readonly prompts: readonly OwnPrompt[];
  readonly resources: readonly OwnResource[];
  /** Of the folder that the settings name; absent where there are none. */
  readonly skills?: readonly OwnSkill[] | undefined;
}

/** A skill in the folder of skills (`systemConfig.skills`). */
export interface OwnSkill {
  readonly name: string;
  readonly description: string;
  /** Of its `SKILL.md`. */
  readonly uri: string;
  /** What `skills/get` says of it, as JSON text. */
  readonly entry: string;
  readonly files: readonly OwnSkillFile[];
}

export interface OwnSkillFile {
  readonly uri: string;
  readonly name: string;
  readonly mimeType: string;
  /** `sha256:` and the hash of its bytes. */
  readonly digest: string;
  readonly size: number;
  /** As `resources/read` has it. */
  readonly content: { readonly text: string } | { readonly blob: string };
}

export interface OwnPrompt {
  readonly name: string;
  readonly title: string | undefined;
  readonly description: string | undefined;
  /** `{{name}}` stands for the argument of that name. */
  readonly template: string;
  readonly arguments: readonly OwnArgument[];
}

export interface OwnArgument {
  readonly name: string;
  readonly title: string | undefined;
  readonly description: string | undefined;
  readonly required: boolean;
}

export interface OwnResource {
  readonly uri: string;
  readonly name: string;
  readonly description: string | undefined;
  readonly mimeType: string;
  readonly content: string;
}
